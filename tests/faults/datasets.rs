//! Files on the server's disk: names that lead elsewhere, and files that change or are shared while they are streamed.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sudoku_stream::service::proto::sudoku_service_client::SudokuServiceClient;
use sudoku_stream::service::proto::{
    GetPuzzleRequest, ListDatasetsRequest, SolveDatasetRequest, SolveDatasetResponse,
};
use tokio::time::timeout;
use tonic::transport::Channel;
use tonic::{Code, Status, Streaming};

use crate::companion::{FLAT, memory_of};
use crate::harness::daemon::Daemon;
use crate::harness::{Folder, PATIENCE, is_solution, lines};
use crate::row::{Row, Seen};
use crate::traffic::{assert_serving, client, easy, mib, runtime};

pub fn rows() -> Vec<Row> {
    let row = |number, fault, expected, run| Row { number, fault, expected, run };
    vec![
        row(
            33,
            "`../x`, absolute paths, links out, `\\0`, a folder, a FIFO, a device as a data set",
            "NOT_FOUND; nothing outside the folder is opened",
            names_that_lead_elsewhere,
        ),
        row(
            33,
            "links out that are swapped in and out while data sets are opened",
            "the file inside or NOT_FOUND, never what is outside",
            swapped_links,
        ),
        row(
            34,
            "a data set replaced, overwritten or cut short while it is streamed",
            "the old answers to the end, or ABORTED; never mixed",
            changed_while_streamed,
        ),
        row(
            35,
            "two clients stream the same large data set, by two names",
            "mapped once; memory flat",
            shared,
        ),
    ]
}

fn whole(name: &str) -> SolveDatasetRequest {
    SolveDatasetRequest { name: name.to_owned(), ..Default::default() }
}

fn first_of(name: &str) -> GetPuzzleRequest {
    GetPuzzleRequest { name: name.to_owned(), index: Some(1), ..Default::default() }
}

/// All answers that still come, and how it ends.
async fn rest_of(stream: &mut Streaming<SolveDatasetResponse>) -> (Vec<u8>, Result<(), Status>) {
    let mut answers = Vec::new();
    loop {
        match timeout(PATIENCE, stream.message()).await.unwrap() {
            Ok(Some(response)) => answers.extend_from_slice(&response.lines),
            Ok(None) => return (answers, Ok(())),
            Err(status) => return (answers, Err(status)),
        }
    }
}

/// Do these answer the puzzles, as far as they go? Says how many there are.
fn right(answers: &[u8], puzzles: &[String]) -> usize {
    let text = str::from_utf8(answers).unwrap();
    assert!(text.lines().zip(puzzles.iter().cycle()).all(|(answer, puzzle)| is_solution(answer, puzzle)));
    text.lines().count()
}

fn names_that_lead_elsewhere() -> Seen {
    let (outside, inside) = (Folder::new(), Folder::new());
    let puzzle = lines(&easy(1));
    let secret = outside.write("secret.txt", &puzzle);
    inside.write("good.txt", &puzzle);
    inside.pipe("fifo");
    fs::create_dir(inside.path("below")).unwrap();
    symlink(&secret, inside.path("link")).unwrap();
    symlink(outside.root(), inside.path("folder")).unwrap();
    symlink("/dev/zero", inside.path("zero")).unwrap();
    symlink("loop", inside.path("loop")).unwrap();
    symlink(format!("/proc/self/cwd{secret}"), inside.path("magic")).unwrap();
    let is_made = Command::new("mknod").args([&inside.path("device"), "c", "1", "5"]).output();
    let has_device = is_made.is_ok_and(|output| output.status.success());
    let up = format!("../{}/secret.txt", outside.root().rsplit_once('/').unwrap().1);
    let names = [
        "",
        ".",
        "..",
        "/",
        "none",
        "below",
        "fifo",
        "device",
        "link",
        "folder/secret.txt",
        "zero",
        "loop",
        "magic",
        "nul\0",
        "good.txt\0",
        "good.txt/",
        "good.txt/.",
        "/dev/zero",
        "/proc/self/mem",
        &secret,
        &up,
        &format!("below/../{up}"),
        &format!("{}{}", "../".repeat(64), &secret[1..]),
        &"x".repeat(300),
        &"x/".repeat(5_000),
        "\u{202E}\n\t",
    ];
    let daemon = Daemon::start(&["--data-dir", &inside.root()]);
    runtime().block_on(async {
        let mut client = client(&daemon.url()).await;
        for name in names {
            let solved = timeout(PATIENCE, client.solve_dataset(whole(name))).await.unwrap();
            let got = timeout(PATIENCE, client.get_puzzle(first_of(name))).await.unwrap();
            for status in [solved.err(), got.err()] {
                let status = status.unwrap_or_else(|| panic!("{name:?} is served"));
                assert!(
                    matches!(status.code(), Code::NotFound | Code::InvalidArgument),
                    "{name:?} {status:?}"
                );
            }
        }
        let list = client.list_datasets(ListDatasetsRequest::default()).await.unwrap().into_inner().datasets;
        assert_eq!(list.iter().map(|set| set.name.as_str()).collect::<Vec<_>>(), ["good.txt"]);
        assert!(client.get_puzzle(first_of("good.txt")).await.is_ok());
    });
    assert_nothing_of(&outside, &daemon);
    assert_serving(&daemon);
    let device = if has_device { "" } else { " (no device could be made here)" };
    Seen::good(format!("NOT_FOUND for {} names{device}; only good.txt is listed", names.len()))
}

/// The server has nothing open or mapped of this folder.
#[track_caller]
fn assert_nothing_of(folder: &Folder, daemon: &Daemon) {
    let process = format!("/proc/{}", daemon.child.id());
    let maps = fs::read_to_string(format!("{process}/maps")).unwrap();
    assert!(!maps.contains(&folder.root()), "something outside is mapped");
    for entry in fs::read_dir(format!("{process}/fd")).unwrap() {
        // It may have been closed in between.
        let Ok(target) = fs::read_link(entry.unwrap().path()) else { continue };
        assert!(!target.starts_with(folder.root()), "{} is open", target.display());
    }
}

fn swapped_links() -> Seen {
    const TIME: Duration = Duration::from_millis(1_500);
    let (outside, inside) = (Folder::new(), Folder::new());
    let puzzles = easy(2);
    outside.write("swapped", &puzzles[0]);
    fs::create_dir(inside.path("way")).unwrap();
    inside.write("way/swapped", &puzzles[1]);
    let daemon = Daemon::start(&["--data-dir", &inside.root()]);
    let is_over = AtomicBool::new(false);
    let (mut seen, mut missing, mut swaps) = (0u32, 0u32, 0u32);
    std::thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            let mut swaps = 0;
            while !is_over.load(Ordering::Relaxed) {
                // By turns the links are there for a while, and what is inside.
                let ends_with_links = swaps % 2 == 0;
                symlink(outside.path("swapped"), inside.path(".link")).unwrap();
                inside.write(".file", &puzzles[1]);
                let order = if ends_with_links { [".file", ".link"] } else { [".link", ".file"] };
                for name in order {
                    fs::rename(inside.path(name), inside.path("swapped")).unwrap();
                }
                // A folder on the way to a file.
                if ends_with_links {
                    fs::rename(inside.path("way"), inside.path("real")).unwrap();
                    symlink(outside.root(), inside.path("way")).unwrap();
                } else {
                    fs::remove_file(inside.path("way")).unwrap();
                    fs::rename(inside.path("real"), inside.path("way")).unwrap();
                }
                swaps += 1;
            }
            swaps
        });
        runtime().block_on(async {
            let mut client = client(&daemon.url()).await;
            let begin = Instant::now();
            while begin.elapsed() < TIME {
                for name in ["swapped", "way/swapped"] {
                    match timeout(PATIENCE, client.get_puzzle(first_of(name))).await.unwrap() {
                        Ok(response) => {
                            assert_eq!(response.into_inner().puzzle, puzzles[1], "{name} was opened outside");
                            seen += 1;
                        }
                        Err(status) => {
                            assert!(matches!(status.code(), Code::NotFound | Code::Aborted), "{status:?}");
                            missing += 1;
                        }
                    }
                }
            }
        });
        is_over.store(true, Ordering::Relaxed);
        swaps = swapper.join().unwrap();
    });
    assert_nothing_of(&outside, &daemon);
    assert!(seen > 10 && missing > 10 && swaps > 10, "{seen} seen, {missing} missing, {swaps} swaps");
    Seen::good(format!(
        "{swaps} swaps, {seen} times the file inside, {missing} times NOT_FOUND, never the one outside"
    ))
}

/// A stream of which the first answers are read and no more, so that the server is held up in its middle.
async fn held_up(
    client: &mut SudokuServiceClient<Channel>,
    name: &str,
) -> (Vec<u8>, Streaming<SolveDatasetResponse>) {
    let mut stream = client.solve_dataset(whole(name)).await.unwrap().into_inner();
    let first = timeout(PATIENCE, stream.message()).await.unwrap().unwrap().unwrap();
    (first.lines.to_vec(), stream)
}

fn changed_while_streamed() -> Seen {
    const PUZZLES: usize = 60_000;
    type Change = fn(&str);
    let cases: [(Change, Option<Code>); 3] = [
        (
            |path| {
                fs::write(format!("{path}.new"), "................\n").unwrap();
                fs::rename(format!("{path}.new"), path).unwrap();
            },
            None,
        ),
        (
            |path| {
                let length = usize::try_from(fs::metadata(path).unwrap().len()).unwrap();
                fs::OpenOptions::new()
                    .write(true)
                    .open(path)
                    .unwrap()
                    .write_all(&vec![b'.'; length])
                    .unwrap();
            },
            Some(Code::Aborted),
        ),
        (
            |path| fs::OpenOptions::new().write(true).open(path).unwrap().set_len(1_000).unwrap(),
            Some(Code::Aborted),
        ),
    ];
    let folder = Folder::new();
    let puzzles = easy(1_000);
    let daemon = Daemon::start(&["--data-dir", &folder.root()]);
    let mut fewest = usize::MAX;
    runtime().block_on(async {
        for (change, wanted) in cases {
            let path = folder.write("set.txt", lines(&puzzles).repeat(PUZZLES / puzzles.len()));
            let mut client = client(&daemon.url()).await;
            let (mut answers, mut stream) = held_up(&mut client, "set.txt").await;
            change(&path);
            let (rest, end) = rest_of(&mut stream).await;
            answers.extend(rest);
            let count = right(&answers, &puzzles);
            match wanted {
                None => {
                    assert!(end.is_ok(), "{end:?}");
                    assert_eq!(count, PUZZLES);
                    // Who comes now gets the new one.
                    let new = client.get_puzzle(first_of("set.txt")).await.unwrap().into_inner();
                    assert_eq!((new.order, new.count), (2, 1));
                }
                Some(code) => {
                    assert_eq!(end.unwrap_err().code(), code);
                    assert!(count < PUZZLES);
                    fewest = fewest.min(count);
                }
            }
        }
    });
    assert_serving(&daemon);
    Seen::good(format!(
        "replaced by rename: all {PUZZLES} old answers; overwritten or cut short: at least {fewest} old answers, then ABORTED"
    ))
}

/// How many bytes of a file a process has in its memory maps, each as often as it is mapped.
fn mapped_bytes(process: u32, path: &str) -> u64 {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
    let bytes = |line: &str| {
        let (begin, end) = line.split_whitespace().next().unwrap().split_once('-').unwrap();
        let [begin, end] = [begin, end].map(|address| u64::from_str_radix(address, 16).unwrap());
        end - begin
    };
    maps.lines().filter(|line| line.ends_with(path)).map(bytes).sum()
}

fn shared() -> Seen {
    /// More than a page of memory has.
    const PAGE: u64 = 64 << 10;
    const FILE: usize = 200_000_000;
    let folder = Folder::new();
    let puzzles = easy(100);
    // Mostly comments, which take no time to solve.
    let part = lines(&puzzles) + &format!("# {}\n", "a comment ".repeat(20)).repeat(2_000);
    let path = folder.path("large.txt");
    let mut file = fs::File::create(&path).unwrap();
    let parts = FILE.div_ceil(part.len());
    for _ in 0..parts {
        file.write_all(part.as_bytes()).unwrap();
    }
    drop(file);
    folder.write("small.txt", lines(&puzzles));
    let daemon = Daemon::start(&["--data-dir", &folder.root()]);
    let process = daemon.child.id();
    runtime().block_on(async {
        // So that all threads have what they need.
        let mut client = client(&daemon.url()).await;
        let (_, mut small) = held_up(&mut client, "small.txt").await;
        rest_of(&mut small).await.1.unwrap();
    });
    let own = memory_of(process).unwrap();
    let (mut most_own, mut most_mapped) = (own, 0);
    runtime().block_on(async {
        let mut clients = Vec::new();
        for name in ["large.txt", "./large.txt"] {
            let (url, puzzles) = (daemon.url(), puzzles.clone());
            clients.push(tokio::spawn(async move {
                let mut stream = client(&url).await.solve_dataset(whole(name)).await.unwrap().into_inner();
                let (answers, end) = rest_of(&mut stream).await;
                end.unwrap();
                right(&answers, &puzzles)
            }));
        }
        while !clients.iter().all(tokio::task::JoinHandle::is_finished) {
            most_own = most_own.max(memory_of(process).unwrap());
            most_mapped = most_mapped.max(mapped_bytes(process, &path));
            // The pause between two looks at the server.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        for client in clients {
            assert_eq!(client.await.unwrap(), parts * puzzles.len());
        }
    });
    let file = fs::metadata(&path).unwrap().len();
    assert!((file..file + PAGE).contains(&most_mapped), "{most_mapped} bytes mapped of {file}");
    let own = most_own.saturating_sub(own);
    assert!(own < FLAT, "{} MiB of memory", mib(own));
    Seen::good(format!("two streams of 200 MB: one map, {} MiB of memory besides it", mib(own)))
}
