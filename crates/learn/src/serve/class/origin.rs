//! Where a request comes from: a page of ours, or another; and from which address. Pure.
//!
//! *Invariant:* what changes something is done only for a page of this server.

use std::net::{IpAddr, SocketAddr};

use axum::http::Method;
use axum::http::header::{self, HeaderMap, HeaderName};

const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const DESTINATION: HeaderName = HeaderName::from_static("sec-fetch-dest");
const FORWARDED: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Whether a request may go on: a page of this server has sent it, or it opens a page, as a link does.
/// Browsers say so by `Sec-Fetch-Site`, and older ones by `Origin` alone. `address` is the server's,
/// as browsers reach it.
pub fn is_ours(address: &str, method: &Method, headers: &HeaderMap) -> bool {
    let text = |name: &HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    let (origin, site) = (text(&header::ORIGIN), text(&SITE));
    if *method == Method::GET || *method == Method::HEAD {
        let is_elsewhere = site.is_some_and(|site| site == "cross-site" || site == "same-site");
        let opens_a_page = text(&DESTINATION).is_none_or(|destination| destination == "document");
        return origin.is_none_or(|origin| origin == address) && (opens_a_page || !is_elsewhere);
    }
    origin == Some(address) && site.is_none_or(|site| site == "same-origin")
}

/// Whether the request is for this server: a name elsewhere may lead here, too.
pub fn is_for_us(address: &str, headers: &HeaderMap) -> bool {
    let host = address.split_once("://").map_or(address, |(_, host)| host);
    let mut named = headers.get_all(header::HOST).iter();
    // Of two Host headers, a proxy may have checked the other one.
    named.next().is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(host.as_bytes())) && named.next().is_none()
}

/// Who has sent a request: its peer, or, behind a proxy on this machine, whom the proxy names. What
/// a client writes there itself comes before that.
pub fn client(peer: SocketAddr, behind_proxy: bool, headers: &HeaderMap) -> IpAddr {
    let peer = peer.ip().to_canonical();
    let named = || {
        let last = headers.get_all(FORWARDED).iter().next_back()?.to_str().ok()?;
        last.rsplit(',').next()?.trim().parse().ok()
    };
    match behind_proxy && peer.is_loopback() {
        true => named().unwrap_or(peer),
        false => peer,
    }
}

/// The value of a cookie.
pub fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: &str = "https://class.example";

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    #[test]
    fn only_our_pages_change_something() {
        let posts = |pairs: &[(&'static str, &str)]| is_ours(ADDRESS, &Method::POST, &headers(pairs));
        assert!(posts(&[("origin", ADDRESS)]) && posts(&[("origin", ADDRESS), ("sec-fetch-site", "same-origin")]));
        for wrong in [
            &[][..],
            &[("origin", "null")],
            &[("origin", "https://evil.example")],
            &[("origin", "http://class.example")],
            &[("origin", "https://class.example.evil.example")],
            &[("origin", "https://class.example:8443")],
            &[("sec-fetch-site", "same-origin")],
            &[("origin", ADDRESS), ("sec-fetch-site", "cross-site")],
            &[("origin", ADDRESS), ("sec-fetch-site", "same-site")],
        ] {
            assert!(!posts(wrong), "{wrong:?}");
        }
        let gets = |pairs: &[(&'static str, &str)]| is_ours(ADDRESS, &Method::GET, &headers(pairs));
        assert!(gets(&[]) && gets(&[("sec-fetch-site", "cross-site"), ("sec-fetch-dest", "document")]));
        assert!(gets(&[("sec-fetch-site", "same-origin"), ("sec-fetch-dest", "empty")]));
        assert!(!gets(&[("origin", "https://evil.example")]));
        for destination in ["image", "iframe", "empty"] {
            assert!(!gets(&[("sec-fetch-site", "cross-site"), ("sec-fetch-dest", destination)]), "{destination}");
        }
    }

    #[test]
    fn another_name_of_this_server_is_refused() {
        let host = |host: &str| is_for_us(ADDRESS, &headers(&[("host", host)]));
        assert!(host("class.example") && host("Class.Example"));
        assert!(!host("class.example:81") && !host("evil.example") && !is_for_us(ADDRESS, &HeaderMap::new()));
        let mut two = headers(&[("host", "class.example")]);
        two.append(header::HOST, "evil.example".parse().unwrap());
        assert!(!is_for_us(ADDRESS, &two));
    }

    #[test]
    fn a_client_cannot_name_another_address() {
        let of = |peer: &str, proxy, pairs: &[(&'static str, &str)]| {
            client(peer.parse().unwrap(), proxy, &headers(pairs)).to_string()
        };
        let named = [("x-forwarded-for", "1.1.1.1, 2.2.2.2")];
        assert_eq!(of("9.9.9.9:1", true, &named), "9.9.9.9");
        assert_eq!(of("127.0.0.1:1", false, &named), "127.0.0.1");
        assert_eq!(of("127.0.0.1:1", true, &named), "2.2.2.2");
        assert_eq!(of("[::ffff:127.0.0.1]:1", true, &named), "2.2.2.2");
        assert_eq!(of("127.0.0.1:1", true, &[("x-forwarded-for", "nonsense")]), "127.0.0.1");
    }

    #[test]
    fn a_cookie_is_found_by_its_whole_name() {
        let all = headers(&[("cookie", "a=1; __Host-class=x=y;class=2")]);
        assert_eq!(
            (cookie(&all, "__Host-class"), cookie(&all, "class"), cookie(&all, "lass")),
            (Some("x=y"), Some("2"), None)
        );
    }
}
