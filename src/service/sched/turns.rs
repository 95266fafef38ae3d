//! Turns: whose batch starts next where several clients wait for threads.
//!
//! The client that has had the least time on the threads is next, as with the processes of a
//! system. A client is a connection; those with the same token first share the turns of the token.
//! One that comes back after a while has no claim on the time that it did not use, but is ahead of
//! those that have never stopped, by [`CREDIT`].
//!
//! **Invariant:** what a client waits for is the end of a batch and the turns of clients that had
//! less than it, however many batches the others have sent.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::poison::IgnorePoison as _;

/// The time by which a client that was away is ahead of those that were not.
const CREDIT: u64 = 5_000_000;

/// What a batch is taken to cost before anything is known of its client, in nanoseconds.
const UNKNOWN_COST: u64 = 100_000;

/// The cost of a small batch from which its client's small batches go where its large ones do: then
/// they cannot hold up those of others. More than most puzzles take, and much less than a person
/// notices.
const COSTLY: u64 = 300_000;

/// The cost of a small batch that is more than handing it to another thread and back.
const HANDOVER: u64 = 50_000;

/// The waiting batches of a client from which those that were given up are looked for.
const MANY_WAITING: usize = 16;

/// The clients that are remembered without an open call: some 100 KiB.
const REMEMBERED: usize = 1024;

/// Time on the threads, in nanoseconds.
#[derive(Debug, Default)]
struct Account(AtomicU64);

impl Account {
    fn used(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Forgets time that was not used.
    fn catch_up(&self, clock: u64) {
        self.0.fetch_max(clock.saturating_sub(CREDIT), Ordering::Relaxed);
    }

    fn charge(&self, nanos: u64) {
        self.0.fetch_add(nanos, Ordering::Relaxed);
    }

    /// Puts the real cost in the place of the one that was charged.
    fn correct(&self, charged: u64, real: u64) {
        self.0.fetch_add(real.wrapping_sub(charged), Ordering::Relaxed);
    }
}

/// A client, as far as turns are concerned.
#[derive(Debug, Default)]
pub(crate) struct Client {
    own: Account,
    /// The account of its token.
    group: Option<Arc<Account>>,
    /// What its small batches have cost of late, in nanoseconds; 0 if there were none.
    cost: AtomicU64,
}

impl Client {
    /// By which the next one is chosen.
    fn rank(&self) -> (u64, u64) {
        let own = self.own.used();
        (self.group.as_ref().map_or(own, |group| group.used()), own)
    }

    fn accounts(&self) -> impl Iterator<Item = &Account> {
        [Some(&self.own), self.group.as_deref()].into_iter().flatten()
    }

    /// Whether its small batches take so long that they would hold up those of others.
    pub(crate) fn is_costly(&self) -> bool {
        self.cost.load(Ordering::Relaxed) >= COSTLY
    }

    /// Whether its small batches take longer than handing one to another thread and back. Only then
    /// is it no use to try one on the thread that moves bytes.
    pub(crate) fn outlasts_handover(&self) -> bool {
        self.cost.load(Ordering::Relaxed) >= HANDOVER
    }

    /// Takes note of what a small batch has cost.
    pub(crate) fn note_cost(&self, time: Duration) {
        let new = nanos(time).max(1);
        let old = self.cost.load(Ordering::Relaxed);
        let cost = if old == 0 { new } else { old - old / 4 + new / 4 };
        self.cost.store(cost, Ordering::Relaxed);
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX >> 8)
}

/// The clients with open calls, and those that came last, by the numbers of their token and their
/// connection.
#[derive(Debug, Default)]
pub(crate) struct Clients(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    clients: HashMap<(u64, u64), Weak<Client>>,
    /// The [`REMEMBERED`] that came last, because what a client costs is known from its last call,
    /// and one that calls again and again has none in between.
    last: VecDeque<Arc<Client>>,
    groups: HashMap<u64, Weak<Account>>,
    /// The number from which those that have left are forgotten.
    many: usize,
}

impl Clients {
    /// The client with these numbers; 0 stands for no token.
    pub(crate) fn client(&self, token: u64, connection: u64) -> Arc<Client> {
        let mut known = self.0.lock().ignore_poison();
        if let Some(client) = known.clients.get(&(token, connection)).and_then(Weak::upgrade) {
            return client;
        }
        let group = (token > 0).then(|| match known.groups.get(&token).and_then(Weak::upgrade) {
            Some(group) => group,
            None => {
                let group = Arc::default();
                known.groups.insert(token, Arc::downgrade(&group));
                group
            }
        });
        let client = Arc::new(Client { group, ..Client::default() });
        known.clients.insert((token, connection), Arc::downgrade(&client));
        if known.last.len() == REMEMBERED {
            known.last.pop_front();
        }
        known.last.push_back(Arc::clone(&client));
        if known.clients.len() > known.many {
            known.clients.retain(|_, client| client.strong_count() > 0);
            known.groups.retain(|_, group| group.strong_count() > 0);
            known.many = 2 * known.clients.len() + MANY_WAITING;
        }
        client
    }
}

/// The right to have one batch in a pool, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    turns: Option<Arc<Turns>>,
    client: Arc<Client>,
    /// What was charged for it.
    charged: u64,
}

impl Turn {
    /// Charges what the batch has cost.
    pub(super) fn took(&mut self, time: Duration) {
        let real = nanos(time);
        self.client.accounts().for_each(|account| account.correct(self.charged, real));
        self.charged = real;
    }

    /// The client whose turn it is.
    pub(super) fn client(&self) -> &Arc<Client> {
        &self.client
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(turns) = self.turns.take() {
            turns.next();
        }
    }
}

/// The turns in one pool.
#[derive(Debug)]
pub(super) struct Turns {
    state: Mutex<TurnsState>,
    /// The time that the client had used whose turn was last.
    clock: AtomicU64,
}

#[derive(Debug)]
struct TurnsState {
    free: usize,
    /// Each client once, with its batches in order. Nobody waits while a turn is free.
    waiting: Vec<WaitingClient>,
}

#[derive(Debug)]
struct WaitingClient {
    client: Arc<Client>,
    batches: VecDeque<oneshot::Sender<Turn>>,
}

impl Turns {
    /// A number of turns at a time.
    pub(super) fn new(number: usize) -> Arc<Self> {
        let state = Mutex::new(TurnsState { free: number, waiting: Vec::new() });
        Arc::new(Self { state, clock: AtomicU64::new(0) })
    }

    fn state(&self) -> MutexGuard<'_, TurnsState> {
        self.state.lock().ignore_poison()
    }

    /// Waits for a turn of a client.
    pub(super) async fn turn(self: &Arc<Self>, client: &Arc<Client>) -> Turn {
        let receiver = {
            let mut state = self.state();
            let clock = self.clock.load(Ordering::Relaxed);
            client.accounts().for_each(|account| account.catch_up(clock));
            if state.free > 0 {
                state.free -= 1;
                return self.give(client);
            }
            let (sender, receiver) = oneshot::channel();
            state.wait(client, sender);
            receiver
        };
        // The sender is dropped with the pool only, and then nothing is left to wait for.
        receiver.await.unwrap_or_else(|_| Turn { turns: None, client: Arc::clone(client), charged: 0 })
    }

    /// A turn that is taken already.
    fn give(self: &Arc<Self>, client: &Arc<Client>) -> Turn {
        let cost = client.cost.load(Ordering::Relaxed);
        let charged = if cost == 0 { UNKNOWN_COST } else { cost };
        client.accounts().for_each(|account| account.charge(charged));
        Turn { turns: Some(Arc::clone(self)), client: Arc::clone(client), charged }
    }

    /// Gives a turn that has ended to the next client.
    fn next(self: &Arc<Self>) {
        let mut given_up = None;
        loop {
            // One that was given up ends outside of the lock, which its end takes again.
            if let Some(mut turn) = given_up.take() {
                Turn::forget(&mut turn);
            }
            let mut state = self.state();
            let Some((client, sender)) = state.next() else {
                state.free += 1;
                return;
            };
            self.clock.fetch_max(client.rank().0, Ordering::Relaxed);
            let turn = self.give(&client);
            drop(state);
            match sender.send(turn) {
                Ok(()) => return,
                Err(turn) => given_up = Some(turn),
            }
        }
    }
}

impl Turn {
    /// Takes back a turn that nobody has taken, without passing it on.
    fn forget(&mut self) {
        self.turns = None;
        self.took(Duration::ZERO);
    }
}

impl TurnsState {
    fn wait(&mut self, client: &Arc<Client>, sender: oneshot::Sender<Turn>) {
        match self.waiting.iter_mut().find(|waiting| Arc::ptr_eq(&waiting.client, client)) {
            Some(waiting) => {
                if waiting.batches.len() >= MANY_WAITING && waiting.batches.len().is_power_of_two() {
                    waiting.batches.retain(|batch| !batch.is_closed());
                }
                waiting.batches.push_back(sender);
            }
            None => {
                self.waiting
                    .push(WaitingClient { client: Arc::clone(client), batches: VecDeque::from([sender]) });
            }
        }
    }

    /// The next batch: the oldest of the client that has used the least.
    fn next(&mut self) -> Option<(Arc<Client>, oneshot::Sender<Turn>)> {
        loop {
            let place = (0..self.waiting.len()).min_by_key(|&place| self.waiting[place].client.rank())?;
            let waiting = &mut self.waiting[place];
            let client = Arc::clone(&waiting.client);
            let batch = waiting.batches.pop_front();
            if waiting.batches.is_empty() {
                self.waiting.swap_remove(place);
            }
            match batch {
                Some(batch) if !batch.is_closed() => return Some((client, batch)),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use tokio::task::yield_now;

    use super::*;

    /// Lets all clients that are given a number of batches run them, one at a time, and returns the
    /// clients in the order of their turns.
    async fn order(clients: &[(Arc<Client>, usize)], time: Duration) -> Vec<usize> {
        let turns = Turns::new(1);
        let first = turns.turn(&Arc::default()).await;
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for (number, (client, batches)) in clients.iter().enumerate() {
            for _ in 0..*batches {
                let (turns, client, order) = (Arc::clone(&turns), Arc::clone(client), Arc::clone(&order));
                tasks.push(tokio::spawn(async move {
                    let mut turn = turns.turn(&client).await;
                    order.lock().unwrap().push(number);
                    turn.took(time);
                }));
            }
        }
        while turns.state().waiting.iter().map(|waiting| waiting.batches.len()).sum::<usize>() < tasks.len() {
            yield_now().await;
        }
        drop(first);
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(turns.state().free, 1);
        let order = order.lock().unwrap();
        order.clone()
    }

    #[tokio::test]
    async fn turns_go_round_however_many_batches_a_client_has() {
        let clients = Clients::default();
        let order =
            order(&[(clients.client(0, 1), 20), (clients.client(0, 2), 3)], Duration::from_millis(1)).await;
        assert_eq!(order.len(), 23);
        let last_of_small = order.iter().rposition(|&number| number == 1).unwrap();
        assert!(last_of_small < 8, "{order:?}");
    }

    #[tokio::test]
    async fn a_token_with_many_connections_has_the_turns_of_one() {
        let clients = Clients::default();
        let mut all: Vec<_> = (0..10).map(|number| (clients.client(7, number), 2)).collect();
        all.push((clients.client(8, 100), 4));
        let order = order(&all, Duration::from_millis(1)).await;
        let last = order.iter().rposition(|&number| number == 10).unwrap();
        assert!(last < 10, "{order:?}");
    }

    #[tokio::test]
    async fn a_turn_that_nobody_waits_for_any_more_is_passed_on() {
        let turns = Turns::new(1);
        let (one, two) = (Arc::<Client>::default(), Arc::<Client>::default());
        let held = turns.turn(&one).await;
        let given = AtomicUsize::new(0);
        {
            let waits = turns.turn(&two);
            tokio::pin!(waits);
            assert!(tokio::time::timeout(Duration::from_millis(5), &mut waits).await.is_err());
        }
        drop(held);
        for _ in 0..3 {
            drop(turns.turn(&one).await);
            given.fetch_add(1, Ordering::Relaxed);
        }
        assert_eq!((given.into_inner(), turns.state().free), (3, 1));
    }

    #[test]
    fn a_client_is_costly_by_what_it_has_sent_of_late() {
        let clients = Clients::default();
        let client = clients.client(0, 1);
        assert!(!client.is_costly() && !client.outlasts_handover());
        client.note_cost(Duration::from_millis(2));
        assert!(client.is_costly() && client.outlasts_handover());
        (0..8).for_each(|_| client.note_cost(Duration::from_micros(20)));
        assert!(!client.is_costly() && client.outlasts_handover());
        (0..10).for_each(|_| client.note_cost(Duration::from_micros(20)));
        assert!(!client.outlasts_handover());
        assert!(Arc::ptr_eq(&client, &clients.client(0, 1)));
    }

    #[test]
    fn a_client_is_remembered_between_its_calls() {
        let clients = Clients::default();
        clients.client(7, 1).note_cost(Duration::from_millis(2));
        for other in 2..=REMEMBERED as u64 {
            assert!(!clients.client(7, other).is_costly());
        }
        assert!(clients.client(7, 1).is_costly());
        clients.client(7, 0);
        assert!(!clients.client(7, 1).is_costly(), "one more came since");
    }
}
