//! A browser for tests and for `cargo xtask load`: forms, a cookie, one connection, and events that
//! a server sends. Waits on its thread.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The longest wait for the server's next byte.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser at one server.
pub struct Browser {
    /// `http://HOST:PORT`.
    address: String,
    cookie: Option<String>,
    connection: Option<BufReader<TcpStream>>,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub body: String,
    cookie: Option<String>,
}

/// The head of an answer.
struct Head {
    status: u16,
    length: Option<usize>,
    chunked: bool,
    cookie: Option<String>,
}

impl Browser {
    pub fn new(address: &str) -> Self {
        Self { address: address.to_owned(), cookie: None, connection: None }
    }

    /// Gets a page.
    pub fn get(&mut self, path: &str) -> io::Result<Answer> {
        self.answer("GET", path, "")
    }

    /// Sends a form, as a script does.
    pub fn post(&mut self, path: &str, form: &[(&str, &str)]) -> io::Result<Answer> {
        let pairs: Vec<String> = form.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        self.answer("POST", path, &pairs.join("&"))
    }

    /// Exchanges a personal link for a session.
    pub fn sign_in(&mut self, link: &str) -> io::Result<()> {
        let secret = link.rsplit('/').next().unwrap_or_default();
        let answer = self.post("/enter", &[("secret", secret)])?;
        let cookie = answer.cookie.as_deref().and_then(|cookie| cookie.split(';').next());
        let refused = || io::Error::other(format!("{}: {}", answer.status, answer.body));
        self.cookie = Some(cookie.ok_or_else(refused)?.to_owned());
        Ok(())
    }

    /// Reads the data of events until `is_last` says so. `None`: the server has ended before.
    pub fn events(&mut self, path: &str, is_last: impl Fn(&str) -> bool) -> io::Result<Option<String>> {
        self.send("GET", path, "")?;
        let mut connection = self.connection.take().ok_or(ErrorKind::NotConnected)?;
        let head = Head::read(&mut connection)?;
        if head.status != 200 || !head.chunked {
            return Err(io::Error::other(format!("{path}: {}", head.status)));
        }
        for line in BufReader::new(Chunks { connection, left: 0, ended: false }).lines() {
            match line?.strip_prefix("data:").map(str::trim) {
                Some(data) if is_last(data) => return Ok(Some(data.to_owned())),
                _ => {}
            }
        }
        Ok(None)
    }

    fn answer(&mut self, method: &str, path: &str, form: &str) -> io::Result<Answer> {
        self.send(method, path, form)?;
        let mut connection = self.connection.take().ok_or(ErrorKind::NotConnected)?;
        let head = Head::read(&mut connection)?;
        let mut body = Vec::new();
        if head.chunked {
            let mut chunks = Chunks { connection, left: 0, ended: false };
            chunks.read_to_end(&mut body)?;
        } else {
            body.resize(head.length.unwrap_or(0), 0);
            connection.read_exact(&mut body)?;
            self.connection = Some(connection);
        }
        Ok(Answer { status: head.status, body: String::from_utf8_lossy(&body).into_owned(), cookie: head.cookie })
    }

    fn send(&mut self, method: &str, path: &str, form: &str) -> io::Result<()> {
        let host = self.address.trim_start_matches("http://");
        // A server closes connections that it has not heard of for long.
        self.connection.take_if(|connection| !is_open(connection));
        if self.connection.is_none() {
            let connection = TcpStream::connect(host)?;
            connection.set_nodelay(true)?;
            connection.set_read_timeout(Some(PATIENCE))?;
            self.connection = Some(BufReader::new(connection));
        }
        let cookie = self.cookie.as_ref().map(|cookie| format!("Cookie: {cookie}\r\n")).unwrap_or_default();
        let body = match method {
            "GET" => String::new(),
            _ => format!(
                "Origin: {}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n",
                self.address,
                form.len()
            ),
        };
        let request =
            format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nAccept: application/json\r\n{cookie}{body}\r\n{form}");
        let connection = self.connection.as_mut().ok_or(ErrorKind::NotConnected)?;
        let sent = connection.get_mut().write_all(request.as_bytes());
        if sent.is_err() {
            self.connection = None;
        }
        sent
    }
}

/// Whether a connection without an answer to read is still open.
fn is_open(connection: &BufReader<TcpStream>) -> bool {
    let stream = connection.get_ref();
    let waits = |error: io::Error| error.kind() == ErrorKind::WouldBlock;
    stream.set_nonblocking(true).is_ok()
        && stream.peek(&mut [0]).is_err_and(waits)
        && stream.set_nonblocking(false).is_ok()
}

impl Head {
    fn read(connection: &mut impl BufRead) -> io::Result<Self> {
        let mut line = String::new();
        connection.read_line(&mut line)?;
        let wrong = || io::Error::new(ErrorKind::InvalidData, "this is no answer of HTTP");
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(wrong)?;
        let mut head = Self { status, length: None, chunked: false, cookie: None };
        loop {
            line.clear();
            connection.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { return Ok(head) };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => head.length = value.trim().parse().ok(),
                "transfer-encoding" => head.chunked = value.trim().eq_ignore_ascii_case("chunked"),
                "set-cookie" => head.cookie = Some(value.trim().to_owned()),
                _ => {}
            }
        }
    }
}

/// A body that comes in chunks.
struct Chunks {
    connection: BufReader<TcpStream>,
    left: usize,
    ended: bool,
}

impl Read for Chunks {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && !self.ended {
            let mut line = String::new();
            self.connection.read_line(&mut line)?;
            if line.trim().is_empty() {
                // The end of the chunk before.
                line.clear();
                self.connection.read_line(&mut line)?;
            }
            let wrong = || io::Error::new(ErrorKind::UnexpectedEof, "the server has ended");
            self.left = usize::from_str_radix(line.trim(), 16).map_err(|_| wrong())?;
            self.ended = self.left == 0;
        }
        if self.ended {
            return Ok(0);
        }
        let most = bytes.len().min(self.left);
        let read = self.connection.read(&mut bytes[..most])?;
        self.left -= read;
        match read {
            0 if most > 0 => Err(ErrorKind::UnexpectedEof.into()),
            read => Ok(read),
        }
    }
}

/// A value of a form.
pub fn encoded(value: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    value.bytes().map(byte).collect()
}
