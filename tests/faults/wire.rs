//! HTTP/2 frame by frame, as no library would send them.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// How long the server may read or write nothing before it is given up.
const STUCK: Duration = Duration::from_secs(5);

/// What a client sends first.
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const ACK: u8 = 1;
pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;
pub const PADDED: u8 = 8;

pub const REFUSED_STREAM: u32 = 7;
pub const CANCEL: u32 = 8;
pub const COMPRESSION_ERROR: u32 = 9;
pub const ENHANCE_YOUR_CALM: u32 = 11;

/// A frame that was received.
#[derive(Debug)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Frame {
    /// The number that `RST_STREAM` begins with and GOAWAY has second.
    pub fn reason(&self) -> u32 {
        let at = if self.kind == GOAWAY { 4 } else { 0 };
        u32::from_be_bytes(self.payload[at..at + 4].try_into().unwrap())
    }

    pub fn ends_stream(&self) -> bool {
        matches!(self.kind, DATA | HEADERS) && self.flags & END_STREAM != 0 || self.kind == RST_STREAM
    }
}

/// The bytes of a frame.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut bytes = length[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// A header that is spelt out and not to be remembered.
pub fn header(name: &str, value: &str) -> Vec<u8> {
    let mut bytes = vec![0];
    for text in [name, value] {
        string(text.as_bytes(), &mut bytes);
    }
    bytes
}

/// A header that is spelt out once, to be repeated by a single byte, [`REMEMBERED`].
pub fn remembered_header(name: &str, value: &str) -> Vec<u8> {
    let mut bytes = header(name, value);
    bytes[0] = 0x40;
    bytes
}

/// The header that was last to be remembered: the first entry after the 61 that all know.
pub const REMEMBERED: u8 = 0x80 + 62;

fn string(text: &[u8], bytes: &mut Vec<u8>) {
    const PREFIX: usize = 127;
    if text.len() < PREFIX {
        bytes.push(u8::try_from(text.len()).unwrap());
    } else {
        bytes.push(0x7F);
        let mut rest = text.len() - PREFIX;
        while rest >= 128 {
            bytes.push(u8::try_from(rest % 128).unwrap() | 0x80);
            rest /= 128;
        }
        bytes.push(u8::try_from(rest).unwrap());
    }
    bytes.extend_from_slice(text);
}

/// The headers of a call of this method.
pub fn call_headers(method: &str) -> Vec<u8> {
    headers_of(&format!("/sudoku.v1.SudokuService/{method}"))
}

/// The headers of a call of any service.
pub fn headers_of(path: &str) -> Vec<u8> {
    [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "localhost"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ]
    .map(|(name, value)| header(name, value))
    .concat()
}

/// A message as it stands in DATA frames.
pub fn message(message: &impl prost::Message) -> Vec<u8> {
    let body = message.encode_to_vec();
    let mut bytes = vec![0];
    bytes.extend(u32::try_from(body.len()).unwrap().to_be_bytes());
    bytes.extend(body);
    bytes
}

/// The beginning of a message that is said to be this long.
pub fn claim(bytes: u32) -> Vec<u8> {
    [&[0][..], &bytes.to_be_bytes()].concat()
}

/// What became of a flood.
#[derive(Debug, PartialEq, Eq)]
pub enum Flood {
    /// All was taken.
    Taken,
    /// The server did not read on.
    HeldBack,
    /// The connection was ended by the server.
    Ended,
}

/// A connection of bytes.
pub struct Wire {
    pub socket: TcpStream,
}

impl Wire {
    /// A connection on which nothing was said.
    pub fn bare(address: SocketAddr) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_nodelay(true).unwrap();
        socket.set_write_timeout(Some(STUCK)).unwrap();
        Self { socket }
    }

    /// A connection that has been opened as HTTP/2 wants it. The server's settings and windows are in force; that they
    /// are kept is up to the row.
    pub fn open(address: SocketAddr) -> Self {
        let mut wire = Self::bare(address);
        wire.send(&[PREFACE, &frame(SETTINGS, 0, 0, &[])].concat());
        let (mut has_settings, mut has_window) = (false, false);
        while !(has_settings && has_window) {
            let frame = wire.receive(STUCK).expect("the server has settings and a window");
            has_settings |= frame.kind == SETTINGS && frame.flags & ACK == 0;
            has_window |= frame.kind == WINDOW_UPDATE;
        }
        wire.send(&frame(SETTINGS, ACK, 0, &[]));
        wire
    }

    /// Sends bytes; that the server has closed is no error of this side.
    pub fn send(&mut self, bytes: &[u8]) -> bool {
        self.socket.write_all(bytes).is_ok()
    }

    /// Begins a call.
    pub fn call(&mut self, stream: u32, method: &str) -> bool {
        self.send(&frame(HEADERS, END_HEADERS, stream, &call_headers(method)))
    }

    /// Sends a chunk this often, or until it gets nowhere.
    pub fn flood(&mut self, chunk: &[u8], times: usize) -> Flood {
        for _ in 0..times {
            match self.socket.write_all(chunk) {
                Ok(()) => {}
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    return Flood::HeldBack;
                }
                Err(_) => return Flood::Ended,
            }
        }
        Flood::Taken
    }

    /// The next frame. `None` if the server has closed, or says nothing for this long.
    pub fn receive(&mut self, patience: Duration) -> Option<Frame> {
        self.socket.set_read_timeout(Some(patience)).unwrap();
        read_frame(&mut self.socket)
    }

    /// The next frame of which `is_wanted` holds. `None` if the connection ends before. Questions whether the
    /// client is still there are answered meanwhile.
    pub fn receive_until(&mut self, patience: Duration, is_wanted: impl Fn(&Frame) -> bool) -> Option<Frame> {
        let begin = Instant::now();
        while begin.elapsed() < patience {
            match self.receive(patience) {
                Some(frame) if is_wanted(&frame) => return Some(frame),
                Some(question) if question.kind == PING && question.flags & ACK == 0 => {
                    self.send(&frame(PING, ACK, 0, &question.payload));
                }
                Some(_) => {}
                None => return None,
            }
        }
        None
    }

    /// Asks whether the server has read all that was sent before, and waits until it has.
    pub fn ping(&mut self, patience: Duration) -> bool {
        let question = *b"are you?";
        self.send(&frame(PING, 0, 0, &question))
            && self
                .receive_until(patience, |frame| {
                    frame.kind == PING && frame.flags == ACK && frame.payload == question
                })
                .is_some()
    }

    /// Reads on a thread of its own, so that the server can always write.
    pub fn listen(&self) -> Receiver<Frame> {
        let (sender, frames) = mpsc::channel();
        let mut socket = self.socket.try_clone().unwrap();
        socket.set_read_timeout(None).unwrap();
        thread::spawn(move || {
            while let Some(frame) = read_frame(&mut socket) {
                if sender.send(frame).is_err() {
                    return;
                }
            }
        });
        frames
    }

    /// Waits until the server has closed. Returns how long that took.
    pub fn wait_for_end(&mut self, patience: Duration) -> Duration {
        let begin = Instant::now();
        let mut scratch = [0; 1 << 14];
        loop {
            let left = patience.saturating_sub(begin.elapsed());
            assert!(!left.is_zero(), "the connection was not closed within {patience:?}");
            self.socket.set_read_timeout(Some(left)).unwrap();
            match self.socket.read(&mut scratch) {
                Ok(0) => return begin.elapsed(),
                Ok(_) => {}
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                }
                Err(_) => return begin.elapsed(),
            }
        }
    }

    /// Tells the server that this side is done, and reads no more.
    pub fn finish(self) {
        let _ = self.socket.shutdown(Shutdown::Both);
    }

    /// Closes with a reset: bytes that were received and not read make it one.
    pub fn reset(mut self) {
        self.send(&frame(PING, 0, 0, b"are you?"));
        let _ = self.socket.set_read_timeout(Some(STUCK));
        let _ = self.socket.peek(&mut [0]);
    }
}

fn read_frame(socket: &mut TcpStream) -> Option<Frame> {
    let mut head = [0; 9];
    socket.read_exact(&mut head).ok()?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
    let mut payload = vec![0; length];
    socket.read_exact(&mut payload).ok()?;
    let stream = u32::from_be_bytes(head[5..].try_into().unwrap());
    Some(Frame { kind: head[3], flags: head[4], stream, payload })
}
