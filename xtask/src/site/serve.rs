//! A web server for this machine alone: the files of one folder, for a look at the site and for its
//! tests. It listens at 127.0.0.1, answers `GET` and `HEAD`, and reads nothing outside the folder.

use std::fs;
use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::thread;
use std::time::Duration;

/// The first lines of a request have at most this many bytes.
const MOST_REQUEST: u64 = 16 << 10;

/// A folder that is served.
pub struct Served {
    listener: TcpListener,
    folder: PathBuf,
}

impl Served {
    /// Listens at a port; 0 takes a free one.
    ///
    /// # Errors
    ///
    /// If another program listens there.
    pub fn new(folder: &Path, port: u16) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        Ok(Self { listener, folder: folder.to_owned() })
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.listener.local_addr().map_or(0, |address| address.port())
    }

    /// Answers requests, each on a thread, as long as the program runs.
    pub fn forever(self) {
        for stream in self.listener.incoming().flatten() {
            let folder = self.folder.clone();
            // A browser that goes away in the middle of an answer is not a failure.
            thread::spawn(move || drop(answer(&folder, stream)));
        }
    }
}

fn answer(folder: &Path, mut stream: TcpStream) -> Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut head = BufReader::new(stream.try_clone()?.take(MOST_REQUEST)).lines();
    let first = head.next().transpose()?.unwrap_or_default();
    while head.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let mut words = first.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (status, kind, body) = match (method, file(folder, target).map(|path| (fs::read(&path), path))) {
        ("GET" | "HEAD", Some((Ok(body), path))) => ("200 OK", kind(&path), body),
        ("GET" | "HEAD", _) => ("404 Not Found", "text/plain", b"there is no such file\n".to_vec()),
        _ => ("405 Method Not Allowed", "text/plain", b"give GET or HEAD\n".to_vec()),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nCache-Control: no-cache\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
    )?;
    if method != "HEAD" {
        stream.write_all(&body)?;
    }
    stream.flush()
}

/// The file that a request names; `None` if that is outside the folder.
fn file(folder: &Path, target: &str) -> Option<PathBuf> {
    let path = target.split(['?', '#']).next()?.strip_prefix('/')?;
    let inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let path = if path.is_empty() { "index.html" } else { path };
    inside.then(|| folder.join(path))
}

/// The type of a file, by its name. Browsers compile WebAssembly while it arrives only if it says what it is.
fn kind(path: &Path) -> &'static str {
    match path.extension().and_then(|it| it.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("wasm") => "application/wasm",
        _ => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_the_folder_is_served() {
        let found = |target| file(Path::new("/site"), target);
        assert_eq!(found("/"), Some("/site/index.html".into()));
        assert_eq!(found("/labs/offset.json?x=1"), Some("/site/labs/offset.json".into()));
        for target in ["", "x", "/../x", "//etc/passwd", "/labs/../../x", "/./x", "http://elsewhere/x"] {
            assert_eq!(found(target), None, "{target}");
        }
    }

    #[test]
    fn a_file_comes_with_its_type_and_length() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.wasm"), b"\0asm").unwrap();
        let served = Served::new(folder.path(), 0).unwrap();
        let port = served.port();
        thread::spawn(|| served.forever());
        let said = |request: &str| {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
            write!(stream, "{request} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
            let mut said = String::new();
            stream.read_to_string(&mut said).unwrap();
            said
        };
        let there = said("GET /a.wasm");
        assert!(
            there.starts_with("HTTP/1.1 200 OK\r\nContent-Type: application/wasm\r\nContent-Length: 4\r\n"),
            "{there}"
        );
        assert!(there.ends_with("\r\n\r\n\0asm"));
        assert!(said("HEAD /a.wasm").ends_with("\r\n\r\n"));
        assert!(said("GET /b.wasm").starts_with("HTTP/1.1 404"));
        assert!(said("POST /a.wasm").starts_with("HTTP/1.1 405"));
    }
}
