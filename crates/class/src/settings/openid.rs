//! Sign-in with a university's account, by OpenID Connect.
//!
//! *Invariant:* the settings name the place of the client's secret; the secret is read by the server
//! alone ([`OpenId::read_secret`]) and is part of no text that is shown.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::{Error, Result};

/// A university's identity provider, and how its accounts match the roster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenId {
    /// The provider, as its configuration names it.
    pub issuer: String,
    /// The class, as the provider knows it.
    pub client_id: String,
    /// Where the class's secret is.
    pub secret: SecretOf,
    /// The claim that identifies a student: `email` is compared with the roster's address, any other
    /// with the roster's id.
    pub claim: String,
    /// Whether an address counts that the provider does not call verified: people cannot choose theirs.
    pub unverified_email: bool,
}

/// Where a secret is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SecretOf {
    /// In this file.
    File(PathBuf),
    /// In this variable of the environment.
    Environment(String),
}

/// The table, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    issuer: String,
    client_id: String,
    secret_file: Option<PathBuf>,
    secret_env: Option<String>,
    #[serde(default = "claim")]
    claim: String,
    #[serde(default)]
    unverified_email: bool,
}

/// The most bytes of a secret.
const LONGEST: u64 = 4096;

fn claim() -> String {
    "email".to_owned()
}

impl Entry {
    pub(super) fn checked(self, folder: &Path) -> std::result::Result<OpenId, String> {
        let Self { issuer, client_id, secret_file, secret_env, claim, unverified_email } = self;
        let plain = |text: &str| !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control());
        let host = issuer.split_once("://").map_or("", |(_, host)| host.split([':', '/']).next().unwrap_or_default());
        let is_here = issuer.starts_with("http://") && ["127.0.0.1", "localhost"].contains(&host);
        if !plain(&issuer) || host.is_empty() || !(issuer.starts_with("https://") || is_here) {
            return Err(format!("openid: issuer = {issuer:?}: write https://NAME, as the provider names itself"));
        }
        if !plain(&client_id) || !plain(&claim) {
            return Err("openid: client_id and claim must be words".to_owned());
        }
        let secret = match (secret_file, secret_env) {
            (Some(file), None) => SecretOf::File(folder.join(file)),
            (None, Some(name)) if plain(&name) && !name.contains('=') => SecretOf::Environment(name),
            _ => return Err("openid: write secret_file = \"FILE\" or secret_env = \"NAME\"".to_owned()),
        };
        Ok(OpenId { issuer, client_id, secret, claim, unverified_email })
    }
}

impl OpenId {
    /// The class's secret.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if it is not there.
    pub fn read_secret(&self) -> Result<String> {
        let problem = |why: String| Error::Usage(format!("openid: {}: {why}", self.secret));
        let text = match &self.secret {
            SecretOf::Environment(name) => std::env::var(name).map_err(|error| problem(error.to_string()))?,
            SecretOf::File(file) => {
                let mut text = String::new();
                let opened = File::open(file).map_err(|error| problem(error.to_string()))?;
                opened.take(LONGEST + 1).read_to_string(&mut text).map_err(|error| problem(error.to_string()))?;
                text
            }
        };
        match text.trim() {
            "" => Err(problem("it is empty".to_owned())),
            long if long.len() as u64 > LONGEST => Err(problem(format!("it has more than {LONGEST} bytes"))),
            secret => Ok(secret.to_owned()),
        }
    }
}

impl std::fmt::Display for SecretOf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(file) => write!(f, "secret_file {}", file.display()),
            Self::Environment(name) => write!(f, "secret_env {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    fn of(table: &str) -> std::result::Result<OpenId, String> {
        let text = format!("title = 'T'\n[openid]\n{table}");
        Settings::of(&text, Path::new("/class")).map(|settings| settings.openid.unwrap())
    }

    #[test]
    fn a_provider_has_an_issuer_a_client_and_a_secret() {
        let openid = of("issuer = 'https://a.example/realm'\nclient_id = 'c'\nsecret_file = 's'").unwrap();
        assert_eq!((openid.secret, openid.claim.as_str()), (SecretOf::File("/class/s".into()), "email"));
        let openid = of("issuer = 'http://127.0.0.1:9'\nclient_id = 'c'\nsecret_env = 'S'\nclaim = 'sub'").unwrap();
        assert_eq!((openid.secret, openid.claim.as_str()), (SecretOf::Environment("S".to_owned()), "sub"));
        assert_eq!(Settings::of("title = 'T'", Path::new("/")).unwrap().openid, None);
    }

    #[test]
    fn what_is_wrong_is_said() {
        let rest = "client_id = 'c'\nsecret_file = 's'";
        for (table, wanted) in [
            (
                format!("issuer = 'http://a.example'\n{rest}"),
                "openid: issuer = \"http://a.example\": write https://NAME",
            ),
            (format!("issuer = 'http://127.0.0.1.a.example'\n{rest}"), "openid: issuer"),
            (format!("issuer = 'https://'\n{rest}"), "openid: issuer"),
            (format!("issuer = 'https://a'\nclaim = ' '\n{rest}"), "openid: client_id and claim"),
            (format!("issuer = 'https://a'\nsecret_env = 'S'\n{rest}"), "openid: write secret_file"),
            ("issuer = 'https://a'\nclient_id = 'c'".to_owned(), "openid: write secret_file"),
            (format!("issuer = 'https://a'\nsecret = 'x'\n{rest}"), "line 4: unknown field `secret`"),
        ] {
            let said = of(&table).unwrap_err();
            assert!(said.starts_with(wanted), "{table}: {said}");
        }
    }

    #[test]
    fn a_secret_is_read_from_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        let openid = OpenId {
            issuer: "https://a".to_owned(),
            client_id: "c".to_owned(),
            secret: SecretOf::File(file.clone()),
            claim: claim(),
            unverified_email: false,
        };
        let refused = |wanted: &str| {
            let said = openid.read_secret().unwrap_err().to_string();
            assert!(said.starts_with("openid: secret_file ") && said.contains(wanted), "{said}");
        };
        refused("secret: ");
        std::fs::write(&file, " \n").unwrap();
        refused("it is empty");
        std::fs::write(&file, "x".repeat(5000)).unwrap();
        refused("more than 4096");
        std::fs::write(&file, "s3cr37\n").unwrap();
        assert_eq!(openid.read_secret().unwrap(), "s3cr37");
    }
}
