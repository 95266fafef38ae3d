//! Deadlines of calls, as the client sets them.
//!
//! Every call has timers of its own, because the transport enforces a deadline only until the first
//! response, and with the wrong status.

use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until, timeout_at};
use tonic::Status;
use tonic::codegen::http::HeaderMap;

use crate::service::wire::status::deadline_passed;

/// The time by which a call ends before its deadline, so that its status is sent before the
/// transport cuts it off.
const MARGIN: Duration = Duration::from_millis(5);

/// The header of the time that a call has.
const TIMEOUT: &str = "grpc-timeout";

/// More digits than the protocol allows in a timeout.
const TOO_MANY_DIGITS: usize = 9;

/// Refuses a malformed time-out.
///
/// # Errors
/// What a time-out is.
pub(super) fn check(headers: &HeaderMap) -> Result<(), &'static str> {
    match headers.get(TIMEOUT) {
        Some(value) if value.to_str().ok().and_then(parse).is_none() => {
            Err("A time-out is a number of up to 8 digits and a unit: H, M, S, m, u or n, as in `250m`.")
        }
        _ => Ok(()),
    }
}

/// The deadline of a call, if it has one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// The deadline of a call whose headers have just come. There is none with a time-out that
    /// [`check`] refuses.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let header = headers.get(TIMEOUT).and_then(|value| value.to_str().ok());
        Self(header.and_then(parse).map(|timeout| Instant::now() + timeout.saturating_sub(MARGIN)))
    }

    /// A timer that fires at the deadline.
    pub(crate) fn timer(self) -> Option<Sleep> {
        self.0.map(sleep_until)
    }

    /// Waits for `work`, but not beyond the deadline.
    pub(crate) async fn limit<T>(self, work: impl Future<Output = T>) -> Result<T, Status> {
        match self.0 {
            None => Ok(work.await),
            Some(deadline) => timeout_at(deadline, work).await.map_err(|_| deadline_passed()),
        }
    }
}

/// Parses a time-out: a number of up to eight digits and a unit, such as `250m`.
fn parse(header: &str) -> Option<Duration> {
    let (unit_at, unit) = header.char_indices().next_back()?;
    let digits = &header[..unit_at];
    if digits.len() >= TOO_MANY_DIGITS || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    Some(match unit {
        'H' => Duration::from_secs(number * 3600),
        'M' => Duration::from_secs(number * 60),
        'S' => Duration::from_secs(number),
        'm' => Duration::from_millis(number),
        'u' => Duration::from_micros(number),
        'n' => Duration::from_nanos(number),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_have_digits_and_a_unit() {
        assert_eq!(parse("2H"), Some(Duration::from_secs(7200)));
        assert_eq!(parse("3M"), Some(Duration::from_secs(180)));
        assert_eq!(parse("4S"), Some(Duration::from_secs(4)));
        assert_eq!(parse("250m"), Some(Duration::from_millis(250)));
        assert_eq!(parse("99999999u"), Some(Duration::from_micros(99_999_999)));
        assert_eq!(parse("7n"), Some(Duration::from_nanos(7)));
        for bad in ["", "m", "999999999S", "5", "5x", "+5S", "5\u{b5}", "-1S"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[tokio::test]
    async fn work_beyond_the_deadline_is_given_up_with_its_status() {
        let mut headers = HeaderMap::new();
        headers.insert(TIMEOUT, "30m".parse().unwrap());
        let deadline = Deadline::of(&headers);
        let status = deadline.limit(std::future::pending::<()>()).await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::DeadlineExceeded);
        assert_eq!(Deadline::of(&HeaderMap::new()).limit(async { 5 }).await.unwrap(), 5);
    }
}
