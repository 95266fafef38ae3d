//! The system's manager of services: the sockets that it hands over, and what it is told.

use std::sync::Arc;

use anyhow::Context as _;
use listenfd::ListenFd;
use sd_notify::NotifyState;
use sudoku_stream::service::{Config, ListenAddress};

/// Listens on the sockets that were handed over, if there are any, in the place of the default
/// address and beside those that were asked for. To be called before there are threads.
///
/// # Errors
/// A socket of another kind.
pub fn take_sockets(config: &mut Config) -> anyhow::Result<()> {
    let mut sockets = ListenFd::from_env();
    let mut listen = Vec::new();
    for number in 0..sockets.len() {
        let taken = match sockets.take_tcp_listener(number) {
            Ok(socket) => socket.map(|socket| ListenAddress::Bound(Arc::new(socket))),
            Err(_) => sockets
                .take_unix_listener(number)
                .with_context(|| format!("Socket {number} of LISTEN_FDS cannot be listened on"))?
                .map(|socket| ListenAddress::BoundUnix(Arc::new(socket))),
        };
        listen.extend(taken);
    }
    if listen.is_empty() {
        return Ok(());
    }
    let text = |addresses: &[ListenAddress]| addresses.iter().map(ToString::to_string).collect::<Vec<_>>();
    if text(&config.listen) == text(&Config::default().listen) {
        config.listen = listen;
    } else {
        config.listen.extend(listen);
    }
    Ok(())
}

/// Tells that the server serves.
pub fn ready() {
    tell(&[NotifyState::Ready]);
}

/// Tells that it reads its files again; [`ready`] ends that.
pub fn reloading() {
    match NotifyState::monotonic_usec_now() {
        Ok(now) => tell(&[NotifyState::Reloading, now]),
        Err(error) => tracing::debug!(%error, "the clock cannot be read"),
    }
}

/// Tells that it shuts down.
pub fn stopping() {
    tell(&[NotifyState::Stopping]);
}

/// Without a manager there is nobody to tell.
fn tell(state: &[NotifyState<'_>]) {
    if std::env::var_os("NOTIFY_SOCKET").is_some()
        && let Err(error) = sd_notify::notify(state)
    {
        tracing::warn!(%error, "the manager of services cannot be told");
    }
}
