//! Connections: accepted, bounded, and answered. axum's own loop bounds neither how many there are nor
//! how long a request's head may take.
//!
//! | what a client does | what ends it |
//! | --- | --- |
//! | sends half a head, or nothing more | [`HEAD`] |
//! | never reads its answer | [`LIFE`], and as long again for an answer that has begun |
//! | opens very many | [`Bounds`]: more of one network are closed, and all others wait to be accepted |

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::counted::Counted;

/// How long a request's head may take. A connection without requests is closed after that, too.
const HEAD: Duration = Duration::from_secs(10);

/// How long a connection takes requests.
const LIFE: Duration = Duration::from_secs(900);

/// How long to wait when the system accepts none.
const PAUSE: Duration = Duration::from_secs(1);

/// The descriptors that are not for connections: files, the database, processes.
#[cfg(unix)]
const OTHERS: usize = 256;

/// How many connections there may be at once.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub all: usize,
    /// Of one [`network`], except this machine's own: a proxy here has those of all.
    pub of_address: usize,
}

impl Bounds {
    /// These, or fewer if the system gives the program fewer descriptors.
    pub fn within_descriptors(self) -> Self {
        #[cfg(unix)]
        {
            use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
            let limit = getrlimit(Resource::Nofile);
            let wanted = (self.all + OTHERS) as u64;
            let raised = limit.maximum.map_or(wanted, |most| most.min(wanted));
            let has = limit.current.unwrap_or(u64::MAX);
            let raises = has < raised
                && setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum: limit.maximum }).is_ok();
            let has = usize::try_from(if raises { raised } else { has }).unwrap_or(usize::MAX);
            Self { all: self.all.min(has.saturating_sub(OTHERS).max(1)), ..self }
        }
        #[cfg(not(unix))]
        {
            self
        }
    }
}

/// Whom an address stands for: one of IPv6 for its network, in which a machine chooses freely.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
        address @ IpAddr::V4(_) => address,
    }
}

/// Answers until the program ends.
pub async fn serve(listener: TcpListener, routes: Router, bounds: Bounds) -> Infallible {
    let all = Arc::new(Semaphore::new(bounds.all));
    let networks = Counted::<IpAddr>::new(bounds.all, bounds.of_address);
    loop {
        let one = Arc::clone(&all).acquire_owned().await;
        let Ok((stream, peer)) = listener.accept().await else {
            // Mostly for want of descriptors.
            sleep(PAUSE).await;
            continue;
        };
        let own = networks.open(network(peer.ip()));
        if own.is_none() && !peer.ip().to_canonical().is_loopback() {
            continue;
        }
        let routes = routes.clone();
        tokio::spawn(async move {
            let _counted = (one, own);
            answer(stream, peer, routes).await;
        });
    }
}

/// Answers the requests of a connection.
async fn answer(stream: TcpStream, peer: SocketAddr, routes: Router) {
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        TowerToHyperService::new(routes.clone()).call(request)
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
    let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
    if timeout(LIFE, connection.as_mut()).await.is_err() {
        connection.as_mut().graceful_shutdown();
        let _ = timeout(LIFE, connection).await;
    }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read as _, Write as _};
    use std::net::TcpStream;

    use axum::routing::get;

    use super::{Bounds, Duration, Router, TcpListener, network, serve};

    /// What the server answers to one more request.
    fn ask(stream: &mut TcpStream) -> std::io::Result<String> {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")?;
        hear(stream)
    }

    fn hear(stream: &mut TcpStream) -> std::io::Result<String> {
        let mut bytes = [0; 4096];
        let length = stream.read(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
    }

    #[test]
    fn more_connections_wait_until_one_has_ended() {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let routes = Router::new().route("/", get(async || "here"));
                serve(TcpListener::from_std(listener).unwrap(), routes, Bounds { all: 1, of_address: 1 }).await
            })
        });
        let mut first = TcpStream::connect(address).unwrap();
        assert!(ask(&mut first).unwrap().ends_with("here"));
        let mut second = TcpStream::connect(address).unwrap();
        second.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let waits = ask(&mut second).unwrap_err().kind();
        assert!(matches!(waits, ErrorKind::WouldBlock | ErrorKind::TimedOut), "{waits}");
        // The first is answered meanwhile.
        assert!(ask(&mut first).unwrap().ends_with("here"));
        drop(first);
        second.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        assert!(hear(&mut second).unwrap().ends_with("here"));
    }

    #[cfg(unix)]
    #[test]
    fn there_are_descriptors_for_the_connections() {
        let bounds = |all| Bounds { all, of_address: 1 }.within_descriptors().all;
        assert_eq!(bounds(8), 8);
        assert!((1..usize::MAX >> 1).contains(&bounds(usize::MAX >> 1)));
    }

    #[test]
    fn a_network_of_ipv6_is_one() {
        let of = |text: &str| network(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), of("2001:db8:1:2:ffff::1"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
        assert_ne!(of("10.0.0.1"), of("10.0.0.2"));
    }
}
