//! A web server for this machine alone: the files of one folder, for a look at the site and for its
//! tests. It listens at 127.0.0.1, answers `GET` and `HEAD`, and reads nothing outside the folder,
//! where a link may lead, and nothing but files. It answers only to its own name, so that a page of
//! another site whose name leads here reads nothing; whoever is slow, or many, keeps nobody else
//! out for long; and it compresses, as the servers do that publish the site.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Result, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use miniz_oxide::deflate::compress_to_vec_zlib;

/// The first lines of a request have at most this many bytes.
const MOST_REQUEST: u64 = 16 << 10;

/// At most so many requests are answered at once.
const MOST_AT_ONCE: usize = 64;

/// A request comes, and its answer goes, within this time.
const LONGEST: Duration = Duration::from_secs(10);

/// How hard to compress, from 0 to 10: as most servers do.
const LEVEL: u8 = 6;

/// A folder that is served.
pub struct Served {
    listener: TcpListener,
    folder: Arc<Folder>,
    /// What a request and its answer may take.
    longest: Duration,
}

/// Its files.
struct Folder {
    path: PathBuf,
    port: u16,
    compressed: Compressed,
}

/// Files that were compressed, and of when.
#[derive(Default)]
struct Compressed(Mutex<BTreeMap<PathBuf, Kept>>);

/// When a file was changed last, and what it became.
type Kept = (SystemTime, Arc<Vec<u8>>);

/// An answer.
struct Answer {
    status: &'static str,
    kind: &'static str,
    body: Arc<Vec<u8>>,
    compressed: bool,
}

impl Served {
    /// Listens at a port; 0 takes a free one.
    ///
    /// # Errors
    ///
    /// If another program listens there, or there is no folder.
    pub fn new(folder: &Path, port: u16) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        let folder = Folder { path: folder.canonicalize()?, port, compressed: Compressed::default() };
        Ok(Self { listener, folder: Arc::new(folder), longest: LONGEST })
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.folder.port
    }

    /// Answers requests, each on a thread, as long as the program runs.
    pub fn forever(self) {
        let answered = Arc::new(());
        for stream in self.listener.incoming().flatten() {
            let (folder, one) = (Arc::clone(&self.folder), Arc::clone(&answered));
            let mut timed = Timed { stream, end: Instant::now() + self.longest };
            if Arc::strong_count(&answered) > MOST_AT_ONCE + 1 {
                let _ = timed
                    .write_all(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                continue;
            }
            // A browser that goes away in the middle of an answer is not a failure, nor is a
            // machine without room for another thread.
            let _ = thread::Builder::new().spawn(move || {
                let _ = serve(&folder, timed);
                drop(one);
            });
        }
    }
}

/// A connection whose time ends, however slowly its bytes come and go.
struct Timed {
    stream: TcpStream,
    end: Instant,
}

impl Timed {
    fn left(&self) -> Result<Option<Duration>> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Timed {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(bytes)
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.stream.flush()
    }
}

fn serve(folder: &Folder, mut stream: Timed) -> Result<()> {
    let mut lines = BufReader::new((&mut stream).take(MOST_REQUEST)).split(b'\n').map(|line| -> Result<String> {
        let line = line?;
        Ok(String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(&line)).into_owned())
    });
    let first = lines.next().transpose()?.unwrap_or_default();
    let mut headers = BTreeMap::new();
    while let Some(line) = lines.next().transpose()?.filter(|line| !line.is_empty()) {
        if let Some((name, value)) = line.split_once(':') {
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    drop(lines);
    let (method, target) = first.split_once(' ').unwrap_or_default();
    let target = target.split(' ').next().unwrap_or_default();
    let Answer { status, kind, body, compressed } = folder.answer(method, target, &headers);
    let (length, encoding) = (body.len(), if compressed { "Content-Encoding: deflate\r\n" } else { "" });
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{encoding}Vary: Accept-Encoding\r\n\
         Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
    )?;
    if method != "HEAD" {
        stream.write_all(&body)?;
    }
    stream.flush()
}

impl Folder {
    fn answer(&self, method: &str, target: &str, headers: &BTreeMap<String, String>) -> Answer {
        let refused = |status, says: &str| Answer {
            status,
            kind: "text/plain",
            body: Arc::new(says.as_bytes().to_vec()),
            compressed: false,
        };
        let own = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        if !headers.get("host").is_some_and(|host| own.contains(host)) {
            return refused("421 Misdirected Request", "this server answers only to 127.0.0.1 and localhost\n");
        }
        if !matches!(method, "GET" | "HEAD") {
            return refused("405 Method Not Allowed", "give GET or HEAD\n");
        }
        let found = file(&self.path, target).and_then(|path| Some((Arc::new(fs::read(&path).ok()?), path)));
        let Some((body, path)) = found else { return refused("404 Not Found", "there is no such file\n") };
        let accepts = headers.get("accept-encoding").is_some_and(|given| takes_deflate(given));
        let body = if accepts { self.compressed.of(&path, &body) } else { body };
        Answer { status: "200 OK", kind: kind(&path), body, compressed: accepts }
    }
}

impl Compressed {
    /// A file, compressed: once, until it changes.
    fn of(&self, path: &Path, body: &[u8]) -> Arc<Vec<u8>> {
        let changed = fs::metadata(path).and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        let files = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, there)) = files().get(path).filter(|(time, _)| *time == changed) {
            return Arc::clone(there);
        }
        let small = Arc::new(compress_to_vec_zlib(body, LEVEL));
        files().insert(path.to_owned(), (changed, Arc::clone(&small)));
        small
    }
}

/// Whether a browser takes what is compressed so: it names `deflate`, and does not refuse it.
fn takes_deflate(given: &str) -> bool {
    given.split(',').any(|one| {
        let (name, weight) = one.split_once(';').unwrap_or((one, ""));
        let refuses = weight.trim().strip_prefix("q=").is_some_and(|weight| weight.trim().parse() == Ok(0.0));
        name.trim().eq_ignore_ascii_case("deflate") && !refuses
    })
}

/// The file that a request names; `None` if there is none in the folder, itself no link, or what a
/// link there leads to is outside.
fn file(folder: &Path, target: &str) -> Option<PathBuf> {
    let path = named(folder, target)?.canonicalize().ok()?;
    (path.starts_with(folder) && path.is_file()).then_some(path)
}

/// The path that a request names; `None` if that is outside the folder.
fn named(folder: &Path, target: &str) -> Option<PathBuf> {
    let path = target.split(['?', '#']).next()?.strip_prefix('/')?;
    let inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let path = if path.is_empty() { "index.html" } else { path };
    inside.then(|| folder.join(path))
}

/// The type of a file, by its name. Browsers compile WebAssembly while it arrives only if it says
/// what it is.
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

    /// What is answered to a request.
    fn ask(port: u16, request: &str, headers: &str) -> Vec<u8> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        write!(stream, "{request} HTTP/1.1\r\n{headers}\r\n\r\n").unwrap();
        let mut said = Vec::new();
        stream.read_to_end(&mut said).unwrap();
        said
    }

    #[test]
    fn nothing_outside_the_folder_is_served() {
        let found = |target| named(Path::new("/site"), target);
        assert_eq!(found("/"), Some("/site/index.html".into()));
        assert_eq!(found("/labs/offset.json?x=1"), Some("/site/labs/offset.json".into()));
        for target in ["", "x", "/../x", "//etc/passwd", "/labs/../../x", "/./x", "http://elsewhere/x"] {
            assert_eq!(found(target), None, "{target}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_nowhere_outside_and_only_files_are_served() {
        use std::os::unix::fs::symlink;
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "secret").unwrap();
        let folder = outside.path().join("site");
        fs::create_dir_all(folder.join("labs")).unwrap();
        fs::write(folder.join("a.txt"), "a").unwrap();
        symlink("../a.txt", folder.join("labs/inside")).unwrap();
        symlink("../secret", folder.join("link")).unwrap();
        symlink(outside.path(), folder.join("up")).unwrap();
        symlink("loop", folder.join("loop")).unwrap();
        symlink("/dev/zero", folder.join("zero")).unwrap();
        // Beside the folder, with a name that begins alike.
        fs::create_dir(outside.path().join("site2")).unwrap();
        fs::write(outside.path().join("site2/x"), "x").unwrap();
        symlink("../site2/x", folder.join("alike")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(folder.join("socket")).unwrap();
        let folder = folder.canonicalize().unwrap();
        assert_eq!(file(&folder, "/labs/inside"), Some(folder.join("a.txt")));
        let long = format!("/{}", "x".repeat(5000));
        let others =
            ["/link", "/up/secret", "/loop", "/zero", "/alike", "/socket", "/labs", "/", "/a.txt/", "/a.txt/x"];
        let encoded =
            ["/%2e%2e/secret", "/..%2fsecret", "/%2fetc/passwd", "/a%2etxt", "/a.txt\0", "/..\\secret", "/C:/x", &long];
        for target in others.into_iter().chain(encoded) {
            assert_eq!(file(&folder, target).filter(|path| *path != folder.join("a.txt")), None, "{target}");
        }
    }

    #[test]
    fn strange_requests_are_answered_or_dropped_and_the_next_is_served() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("index.html"), "here").unwrap();
        let served = Served::new(folder.path(), 0).unwrap();
        let port = served.port();
        thread::spawn(|| served.forever());
        let said = |bytes: &[u8]| {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
            // Whoever has an answer early may close before everything is sent.
            let _ = stream.write_all(bytes);
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let mut said = Vec::new();
            let _ = stream.read_to_end(&mut said);
            String::from_utf8_lossy(&said).into_owned()
        };
        let host = format!("Host: 127.0.0.1:{port}\r\n");
        let with = |first: &str| format!("{first}\r\n{host}\r\n").into_bytes();
        for (request, status) in [
            (with("GET /\u{0} HTTP/1.1"), "404"),
            (with("get / HTTP/1.1"), "405"),
            (with("OPTIONS * HTTP/1.1"), "405"),
            (with("CONNECT elsewhere:80 HTTP/1.1"), "405"),
            (with("PUT /index.html HTTP/1.1"), "405"),
            (with("GET http://elsewhere/ HTTP/1.1"), "404"),
            (with("GET"), "405"),
            (with(""), "405"),
            (b"GET /\xff\xfe HTTP/1.1\r\nHost: elsewhere\r\n\r\n".to_vec(), "421"),
            (b"\0\0\0\0".to_vec(), "421"),
            (Vec::new(), "421"),
            // Longer than what is read: the host comes too late.
            (format!("GET /{} HTTP/1.1\r\n{host}\r\n", "x".repeat(1 << 20)).into_bytes(), ""),
            (format!("GET / HTTP/1.1\r\n{}{host}\r\n", "X: y\r\n".repeat(100_000)).into_bytes(), ""),
        ] {
            let answer = said(&request);
            let shown = String::from_utf8_lossy(&request[..request.len().min(60)]).into_owned();
            assert!(!answer.contains("200 OK") && answer.contains(status), "{shown}: {answer}");
        }
        assert!(said(&with("GET / HTTP/1.1")).ends_with("here"));
    }

    #[test]
    fn many_slow_connections_are_bounded_and_their_time_ends() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("index.html"), "here").unwrap();
        let start = |longest| {
            let served = Served { longest, ..Served::new(folder.path(), 0).unwrap() };
            let port = served.port();
            thread::spawn(|| served.forever());
            port
        };
        let connect = |port| TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        let port = start(Duration::from_secs(3600));
        // They say nothing, and are taken in the order in which they come.
        let mut idle: Vec<TcpStream> = (0..MOST_AT_ONCE).map(|_| connect(port)).collect();
        let mut said = String::new();
        connect(port).read_to_string(&mut said).unwrap();
        assert!(said.starts_with("HTTP/1.1 503 "), "{said}");
        // One of them asks after all.
        let mut one = idle.pop().unwrap();
        write!(one, "GET / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n").unwrap();
        let mut said = String::new();
        one.read_to_string(&mut said).unwrap();
        assert!(said.ends_with("here"), "{said}");
        // Where there is no time, nothing is waited for.
        let mut said = Vec::new();
        connect(start(Duration::ZERO)).read_to_end(&mut said).unwrap();
        assert_eq!(said, b"");
    }

    #[test]
    fn a_file_comes_with_its_type_and_length() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.wasm"), b"\0asm").unwrap();
        let served = Served::new(folder.path(), 0).unwrap();
        let port = served.port();
        thread::spawn(|| served.forever());
        let said = |request: &str| String::from_utf8(ask(port, request, &format!("Host: 127.0.0.1:{port}"))).unwrap();
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

    #[test]
    fn it_answers_to_its_own_name_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("index.html"), "here").unwrap();
        let served = Served::new(folder.path(), 0).unwrap();
        let port = served.port();
        thread::spawn(|| served.forever());
        for (host, status) in [
            (format!("Host: 127.0.0.1:{port}"), "200"),
            (format!("host: localhost:{port}"), "200"),
            (format!("Host: elsewhere.example:{port}"), "421"),
            ("Host: 127.0.0.1".to_owned(), "421"),
            ("X: y".to_owned(), "421"),
        ] {
            let said = String::from_utf8(ask(port, "GET /", &host)).unwrap();
            assert!(said.starts_with(&format!("HTTP/1.1 {status} ")), "{host}: {said}");
            assert_eq!(said.ends_with("here"), status == "200", "{host}: {said}");
        }
    }

    #[test]
    fn a_file_is_compressed_for_whom_takes_it_and_anew_when_it_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.js");
        let served = Served::new(folder.path(), 0).unwrap();
        let port = served.port();
        thread::spawn(|| served.forever());
        for (round, text) in ["again and again ".repeat(100), "otherwise ".repeat(100)].into_iter().enumerate() {
            fs::write(&path, &text).unwrap();
            let then = SystemTime::UNIX_EPOCH + Duration::from_secs(round as u64 + 1);
            fs::File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
            for (accepted, compressed) in [("gzip, deflate, br", true), ("deflate;q=0", false), ("gzip", false)] {
                let headers = format!("Host: 127.0.0.1:{port}\r\nAccept-Encoding: {accepted}");
                let said = ask(port, "GET /a.js", &headers);
                let end = said.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
                let (head, body) = (String::from_utf8_lossy(&said[..end]), &said[end + 4..]);
                assert_eq!(head.contains("Content-Encoding: deflate"), compressed, "{accepted}: {head}");
                assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
                let plain = match compressed {
                    true => miniz_oxide::inflate::decompress_to_vec_zlib(body).unwrap(),
                    false => body.to_vec(),
                };
                assert_eq!(plain, text.as_bytes(), "{accepted}");
                assert_eq!(body.len() < text.len() / 4, compressed, "{accepted}");
            }
        }
    }
}
