//! The data sets on the server's disk.

use std::fs;
use std::num::NonZeroUsize;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use sudoku_stream::answer::OutputForm;
use sudoku_stream::service::proto::{
    self, GetPuzzleRequest, ListDatasetsRequest, Notation, SolveDatasetRequest, SolveDatasetResponse,
    SolveOptions, TextOptions,
};
use sudoku_stream::service::{Config, Server};
use tempfile::TempDir;
use tokio::time::timeout;
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use crate::harness::packed::{gzip, zstandard};
use crate::harness::server::{
    Fault, Faulty, Running, config, config_with, eventually, nearly_solved, offline, start,
};
use crate::harness::{PATIENCE, assert_solves, by, grid, lines};

async fn start_with(folder: &Path) -> Running {
    start(Config { data_dir: Some(folder.to_owned()), ..config() }).await
}

fn folder_with(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn whole(name: &str) -> SolveDatasetRequest {
    SolveDatasetRequest { name: name.to_owned(), ..Default::default() }
}

async fn solve(server: &Running, request: SolveDatasetRequest) -> Result<Vec<SolveDatasetResponse>, Status> {
    let mut stream = server.client().await.solve_dataset(request).await?.into_inner();
    let mut responses = Vec::new();
    while let Some(response) = timeout(PATIENCE, stream.message()).await.unwrap()? {
        responses.push(response);
    }
    Ok(responses)
}

fn text(responses: &[SolveDatasetResponse]) -> Vec<u8> {
    responses.iter().flat_map(|response| response.lines.iter().copied()).collect()
}

fn field(status: &Status) -> String {
    status.get_error_details().bad_request().unwrap().field_violations[0].field.clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_data_set_gives_the_offline_answers_and_a_running_summary() {
    let puzzles = nearly_solved(4000);
    let with_comments = format!("# from a test\n\n{}", lines(&puzzles));
    let folder =
        folder_with(&[("many.txt", &with_comments), ("header.txt", &format!("3\n{}", lines(&puzzles)))]);
    let server = start_with(folder.path()).await;
    for name in ["many.txt", "header.txt"] {
        let responses = solve(&server, whole(name)).await.unwrap();
        assert!(responses.len() > 1, "the answers come in parts");
        assert!(text(&responses) == offline(&lines(&puzzles), OutputForm::Solution));
        let counts: Vec<_> = responses.iter().map(|r| r.tally.as_ref().unwrap().answers).collect();
        assert!(counts.is_sorted());
        assert_eq!(counts.last(), Some(&4000));
    }
    for (puzzle, answer) in
        puzzles.iter().zip(text(&solve(&server, whole("many.txt")).await.unwrap()).split(|&b| b == b'\n'))
    {
        assert_solves(str::from_utf8(answer).unwrap(), puzzle);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_range_of_lines_is_solved() {
    let puzzles = nearly_solved(3000);
    let folder = folder_with(&[("many.txt", &format!("3\n{}", lines(&puzzles)))]);
    let server = start_with(folder.path()).await;
    // Line k + 1 is puzzle k.
    for (first, last, expected) in [
        (0, 2, &puzzles[..1]),
        (2, 2, &puzzles[..1]),
        (1000, 2500, &puzzles[998..2499]),
        (3001, 0, &puzzles[2999..]),
        (5000, 0, &[]),
    ] {
        let request = SolveDatasetRequest { first_line: first, last_line: last, ..whole("many.txt") };
        let answers = text(&solve(&server, request).await.unwrap());
        let answers = String::from_utf8(answers).unwrap();
        assert_eq!(answers.lines().count(), expected.len(), "{first} to {last}");
        for (answer, puzzle) in answers.lines().zip(expected) {
            assert_solves(answer, puzzle);
        }
    }
    let backwards = SolveDatasetRequest { first_line: 9, last_line: 8, ..whole("many.txt") };
    assert_eq!(field(&solve(&server, backwards).await.unwrap_err()), "last_line");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_range_of_grids_is_solved() {
    let puzzles = nearly_solved(40);
    let rows = |puzzle: &str| {
        let rows = puzzle.as_bytes().chunks(9).map(|row| format!("{}\n", str::from_utf8(row).unwrap()));
        rows.collect::<String>()
    };
    let grids: String =
        (1..).zip(&puzzles).map(|(at, puzzle)| format!("Grid {at}\n{}\n", rows(puzzle))).collect();
    let folder = folder_with(&[("grids.txt", &grids)]);
    let server = start_with(folder.path()).await;
    let answers = async |first_line, last_line| {
        let range = SolveDatasetRequest { first_line, last_line, ..whole("grids.txt") };
        String::from_utf8(text(&solve(&server, range).await.unwrap())).unwrap()
    };
    let all = answers(0, 0).await;
    assert_eq!(all.lines().count(), puzzles.len());
    // Most borders are inside of a puzzle, which belongs to the range that it begins in.
    let (mut parts, mut first) = (String::new(), 1);
    for lines in (7..).step_by(5) {
        parts += &answers(first, first + lines - 1).await;
        first += lines;
        if first > 11 * puzzles.len() as u64 {
            break;
        }
    }
    assert_eq!(parts, all);
    assert_solves(answers(13, 13).await.trim_end(), &puzzles[1]);
    assert_eq!(answers(14, 22).await, "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_outside_the_folder_is_a_data_set_and_nothing_but_files_is() {
    let outside = folder_with(&[("secret.txt", &lines(&nearly_solved(1)))]);
    let folder = folder_with(&[("good.txt", &lines(&nearly_solved(1))), (".hidden", "x")]);
    let path = folder.path();
    fs::create_dir(path.join("below")).unwrap();
    fs::write(path.join("below/deep.txt"), lines(&nearly_solved(1))).unwrap();
    symlink(outside.path().join("secret.txt"), path.join("link-out")).unwrap();
    symlink(outside.path(), path.join("folder-out")).unwrap();
    symlink("good.txt", path.join("link-in")).unwrap();
    symlink("below", path.join("folder-in")).unwrap();
    symlink("nothing", path.join("link-nowhere")).unwrap();
    // As Kubernetes mounts a ConfigMap.
    fs::create_dir(path.join("..2026_01_01")).unwrap();
    fs::write(path.join("..2026_01_01/mounted.txt"), lines(&nearly_solved(1))).unwrap();
    symlink("..2026_01_01", path.join("..data")).unwrap();
    symlink("..data/mounted.txt", path.join("mounted.txt")).unwrap();
    assert!(Command::new("mkfifo").arg(path.join("fifo")).status().unwrap().success());
    let server = start_with(path).await;

    let up = format!("../{}/secret.txt", outside.path().file_name().unwrap().to_str().unwrap());
    let absolute = outside.path().join("secret.txt").to_str().unwrap().to_owned();
    let below = "below/../../x".to_owned();
    let names = [
        "",
        ".",
        "..",
        "/",
        "none",
        "below",
        "fifo",
        "link-out",
        "folder-out/secret.txt",
        "nul\0",
        "/dev/zero",
    ];
    for name in names.into_iter().map(str::to_owned).chain([up, absolute, below]) {
        let status = timeout(PATIENCE, solve(&server, whole(&name))).await.unwrap().unwrap_err();
        assert_eq!(status.code(), Code::NotFound, "{name:?}");
    }
    for name in ["good.txt", "link-in", "mounted.txt", "below/deep.txt"] {
        assert_eq!(solve(&server, whole(name)).await.unwrap().len(), 1, "{name}");
    }
    let list =
        server.client().await.list_datasets(ListDatasetsRequest::default()).await.unwrap().into_inner();
    let listed: Vec<_> = list.datasets.iter().map(|d| (d.name.as_str(), d.size_bytes)).collect();
    let good = [("below/deep.txt", 82), ("good.txt", 82), ("link-in", 82), ("mounted.txt", 82)];
    assert_eq!(listed, good);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_come_in_pages() {
    let one = lines(&nearly_solved(1));
    let folder = folder_with(&[("c", &one), ("a", &one), ("e", &one), ("b", &one), ("d", &one)]);
    let server = start_with(folder.path()).await;
    let mut client = server.client().await;
    let mut pages = Vec::new();
    let mut page_token = String::new();
    loop {
        let request = ListDatasetsRequest { page_size: 2, page_token };
        let page = client.list_datasets(request).await.unwrap().into_inner();
        pages.push(page.datasets.iter().map(|d| d.name.clone()).collect::<String>());
        page_token = page.next_page_token;
        if page_token.is_empty() {
            break;
        }
    }
    assert_eq!(pages, ["ab", "cd", "e"]);
}

/// How often a file is mapped by this process, in which the server is.
fn maps_of(path: &Path) -> usize {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let path = fs::canonicalize(path).unwrap();
    maps.lines().filter(|line| line.ends_with(path.to_str().unwrap())).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_with_several_names_is_one_data_set() {
    let puzzles = nearly_solved(3000);
    let bad = format!("{}{}\n", lines(&puzzles), &puzzles[0][1..]);
    let folder = folder_with(&[("good.txt", &lines(&puzzles)), ("bad.txt", &bad)]);
    fs::create_dir(folder.path().join("below")).unwrap();
    fs::hard_link(folder.path().join("good.txt"), folder.path().join("hard.txt")).unwrap();
    symlink("bad.txt", folder.path().join("soft.txt")).unwrap();
    let server = start_with(folder.path()).await;
    let whole_text = offline(&lines(&puzzles), OutputForm::Solution);
    for name in ["good.txt", "./good.txt", "below/../good.txt", "hard.txt"] {
        assert!(text(&solve(&server, whole(name)).await.unwrap()) == whole_text, "{name}");
        let get = GetPuzzleRequest { name: name.to_owned(), index: Some(2), ..Default::default() };
        assert_eq!(server.client().await.get_puzzle(get).await.unwrap().into_inner().count, 3000);
    }
    assert_eq!(maps_of(&folder.path().join("good.txt")), 1);
    assert_eq!(
        maps_of(&folder.path().join("hard.txt")),
        0,
        "a map has the name by which it was opened first"
    );
    // It is checked once, and everybody is told by the name that was asked for.
    for name in ["./bad.txt", "bad.txt", "soft.txt"] {
        let status = solve(&server, whole(name)).await.unwrap_err();
        let message = format!(
            "The data set {name} is not served: Line 3001 has the wrong length. It has 80 cells; a 9x9 puzzle has 81."
        );
        assert_eq!((status.code(), status.message()), (Code::FailedPrecondition, message.as_str()));
    }
    assert_eq!(maps_of(&folder.path().join("bad.txt")), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_data_set_with_a_bad_line_is_not_served() {
    let puzzles = nearly_solved(3000);
    let bad = format!("{}{}\n", lines(&puzzles), &puzzles[0][1..]);
    let folder = folder_with(&[("bad.txt", &bad), ("empty.txt", ""), ("header.txt", "4\n.\n")]);
    for (name, bytes) in [
        ("packed.gz", &b"\x1F\x8B\x08"[..]),
        ("twice.gz", &gzip(&gzip(b"1234341221434321\n"))),
        ("packed.zip", b"PK\x03\x04"),
        ("wide.txt", b"\xFF\xFE1\0"),
        ("wide2.txt", b"1\x002\x003\x004\x00"),
        ("a.parquet", b"PAR1\x15"),
        ("zeros.bin", b"1234341221434321\n\0"),
    ] {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let server = start_with(folder.path()).await;
    for (name, message) in [
        (
            "bad.txt",
            "The data set bad.txt is not served: Line 3001 has the wrong length. It has 80 cells; a 9x9 puzzle has 81.",
        ),
        ("empty.txt", "empty.txt is empty."),
        ("header.txt", "The data set header.txt is not served: Invalid block size."),
        ("packed.gz", "packed.gz cannot be unpacked: unexpected end of file."),
        ("twice.gz", "twice.gz is compressed. Data sets are read at any place: unpack it."),
        ("packed.zip", "packed.zip is compressed. Data sets are read at any place: unpack it."),
        ("wide.txt", "wide.txt is in UTF-16. Data sets are read at any place: convert it to UTF-8."),
        ("wide2.txt", "wide2.txt is in UTF-16. Data sets are read at any place: convert it to UTF-8."),
        (
            "a.parquet",
            "a.parquet is a Parquet file. Data sets are read at any place: write its puzzles as lines.",
        ),
        ("zeros.bin", "zeros.bin is no text: it has a zero byte at offset 17."),
    ] {
        for _ in 0..2 {
            let status = solve(&server, whole(name)).await.unwrap_err();
            assert_eq!((status.code(), status.message()), (Code::FailedPrecondition, message));
        }
        let get = GetPuzzleRequest { name: name.to_owned(), ..Default::default() };
        let status = server.client().await.get_puzzle(get).await.unwrap_err();
        assert_eq!(status.code(), Code::FailedPrecondition);
    }
    // Mended, it is.
    fs::write(folder.path().join("bad.txt"), lines(&puzzles)).unwrap();
    assert_eq!(
        solve(&server, whole("bad.txt")).await.unwrap().last().unwrap().tally.clone().unwrap().answers,
        3000
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_compressed_file_is_served_as_its_content() {
    let puzzles = nearly_solved(3000);
    let list = lines(&puzzles);
    let folder = folder_with(&[]);
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("below")).unwrap();
    let files = [("list.gz", gzip(list.as_bytes())), ("below/list.zst", zstandard(list.as_bytes()))];
    for (name, packed) in &files {
        fs::write(path(name), packed).unwrap();
    }
    let server = start_with(folder.path()).await;
    let get = async |name: &str| {
        let request = GetPuzzleRequest { name: name.to_owned(), index: Some(2), ..Default::default() };
        server.client().await.get_puzzle(request).await.unwrap().into_inner()
    };
    for (name, _) in &files {
        for _ in 0..2 {
            let answers = text(&solve(&server, whole(name)).await.unwrap());
            assert!(answers == offline(&list, OutputForm::Solution), "{name}");
            let given = get(name).await;
            assert_eq!((given.count, given.line, grid(&given.puzzle)), (3000, 2, grid(&puzzles[1])));
        }
        // A file that takes its place is another one.
        fs::write(path("new"), gzip(&list.as_bytes()[..246])).unwrap();
        fs::rename(path("new"), path(name)).unwrap();
        assert_eq!(get(name).await.count, 3, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_instead_of_a_folder_is_the_only_data_set() {
    let list = lines(&nearly_solved(3));
    let folder = folder_with(&[("one.txt", &list), ("other.txt", &list)]);
    let server = start(Config { data_file: Some(folder.path().join("one.txt")), ..config() }).await;
    assert_eq!(solve(&server, whole("one.txt")).await.unwrap().len(), 1);
    for name in ["other.txt", "./other.txt"] {
        assert_eq!(solve(&server, whole(name)).await.unwrap_err().code(), Code::NotFound, "{name}");
    }
    let request = ListDatasetsRequest::default();
    let list = server.client().await.list_datasets(request).await.unwrap().into_inner();
    assert_eq!(list.datasets.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(), ["one.txt"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_puzzle_is_given_by_its_number_or_at_random() {
    let puzzles = nearly_solved(5000);
    let folder = folder_with(&[("many.txt", &format!("# top\n{}", lines(&puzzles)))]);
    let server = start_with(folder.path()).await;
    let mut client = server.client().await;
    let mut get = async |index| {
        let request =
            GetPuzzleRequest { name: "many.txt".to_owned(), options: None, index, ..Default::default() };
        client.get_puzzle(request).await.map(tonic::Response::into_inner)
    };
    for index in [1, 2500, 5000, 7] {
        let given = get(Some(index)).await.unwrap();
        assert_eq!(grid(&given.puzzle), grid(&puzzles[index as usize - 1]));
        assert_eq!((given.index, given.count, given.line, given.order), (index, 5000, index + 1, 3));
    }
    let mut seen = Vec::new();
    for _ in 0..10 {
        let given = get(None).await.unwrap();
        assert_eq!(given.puzzle, puzzles[given.index as usize - 1]);
        seen.push(given.index);
    }
    seen.dedup();
    assert!(seen.len() > 1, "ten times the same puzzle of 5,000");
    for index in [0, 5001] {
        let status = get(Some(index)).await.unwrap_err();
        assert_eq!((status.code(), field(&status)), (Code::InvalidArgument, "index".to_owned()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_said_about_a_data_set_is_obeyed() {
    let hex = format!("F0{}\n", ".".repeat(254));
    let rows = "................\n".repeat(16);
    let folder = folder_with(&[
        ("small.txt", "................\n"),
        ("hex.txt", &hex),
        ("rows.txt", &rows),
        ("words.txt", "Name: sudoku\nState: running\n"),
    ]);
    let server = start_with(folder.path()).await;
    let alphabet = "Say which with options.alphabet: hex or letters.";
    for (name, wanted, end) in [
        ("hex.txt", "options.alphabet", alphabet),
        ("rows.txt", "options.notation", "Say which with options.notation."),
    ] {
        let status = solve(&server, whole(name)).await.unwrap_err();
        assert_eq!((status.code(), field(&status).as_str()), (Code::InvalidArgument, wanted));
        assert!(status.message().ends_with(end), "{status}");
    }
    let status = solve(&server, whole("words.txt")).await.unwrap_err();
    let advice =
        "If it does hold puzzles, say how they are written: by notation, order, column or delimiter.";
    assert!(
        status.message().starts_with("words.txt has no puzzles: ") && status.message().ends_with(advice),
        "{status}"
    );
    let with = |options| SolveDatasetRequest { options: Some(options), ..whole("small.txt") };
    let grid = SolveOptions { notation: Notation::Triples.into(), ..Default::default() };
    assert_eq!(solve(&server, with(grid)).await.unwrap_err().code(), Code::FailedPrecondition);
    let wide = SolveOptions { alphabet: "hex".to_owned(), order: 5, ..Default::default() };
    assert_eq!(field(&solve(&server, with(wide)).await.unwrap_err()), "options.alphabet");
    let count = SolveOptions { question: proto::Question::Count.into(), ..Default::default() };
    assert_eq!(text(&solve(&server, with(count)).await.unwrap()), b"288\n");
    let get = GetPuzzleRequest {
        name: "small.txt".to_owned(),
        options: Some(TextOptions { order: 3, ..Default::default() }),
        index: None,
        ..Default::default()
    };
    let status = server.client().await.get_puzzle(get).await.unwrap_err();
    assert_eq!(status.code(), Code::FailedPrecondition);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_goes_on_with_the_file_it_began_with() {
    let old = nearly_solved(20_000);
    let folder = folder_with(&[("many.txt", &lines(&old))]);
    let path = folder.path().join("many.txt");
    let server = start_with(folder.path()).await;
    let mut stream = server.client().await.solve_dataset(whole("many.txt")).await.unwrap().into_inner();
    let mut answers = stream.message().await.unwrap().unwrap().lines.to_vec();

    let next = folder.path().join("next");
    fs::write(&next, "................\n").unwrap();
    fs::rename(&next, &path).unwrap();
    assert_eq!(text(&solve(&server, whole("many.txt")).await.unwrap()).len(), 17);

    while let Some(response) = stream.message().await.unwrap() {
        answers.extend_from_slice(&response.lines);
    }
    assert!(answers == offline(&lines(&old), OutputForm::Solution));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_cut_short_ends_its_streams_with_aborted() {
    let slow = Faulty::new(Fault::Slow(Duration::from_micros(100)));
    let counters = slow.counters.clone();
    let folder = folder_with(&[("many.txt", &lines(&nearly_solved(20_000)))]);
    let server = start(Config { data_dir: Some(folder.path().to_owned()), ..config_with(slow) }).await;
    // Mapped by one name, and streamed by another.
    let get = GetPuzzleRequest { name: "many.txt".to_owned(), ..Default::default() };
    server.client().await.get_puzzle(get).await.unwrap();
    let mut stream = server.client().await.solve_dataset(whole("./many.txt")).await.unwrap().into_inner();
    eventually("work", || counters.begun() > 0).await;
    fs::OpenOptions::new().write(true).open(folder.path().join("many.txt")).unwrap().set_len(1000).unwrap();
    let end = async {
        loop {
            match stream.message().await {
                Ok(Some(_)) => {}
                end => break end,
            }
        }
    };
    let status = timeout(PATIENCE, end).await.unwrap().unwrap_err();
    assert_eq!(status.code(), Code::Aborted, "{status:?}");
    assert!(status.message().starts_with("./many.txt was cut short "), "{}", status.message());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_answers_each_line_of_a_data_set() {
    let folder = folder_with(&[("two.txt", &lines(&nearly_solved(2)))]);
    let config = config_with(Faulty::new(Fault::Panic));
    let server = start(Config { data_dir: Some(folder.path().to_owned()), ..config }).await;
    let answers = String::from_utf8(text(&solve(&server, whole("two.txt")).await.unwrap())).unwrap();
    assert_eq!(answers.matches("was not answered because of an internal error.").count(), 2);
    let sound = SolveDatasetRequest { options: Some(by("backtracking")), ..whole("two.txt") };
    assert_eq!(text(&solve(&server, sound).await.unwrap()).len(), 164);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_sets_that_nobody_reads_make_room_for_others() {
    /// As many as stay mapped.
    const MAPPED: usize = 64;
    /// More than one chunk of lines.
    const LINES: usize = 3000;
    let folder = TempDir::new().unwrap();
    let name = |k: usize| format!("set{k}.txt");
    let many = lines(&nearly_solved(LINES));
    for k in 0..MAPPED {
        fs::write(folder.path().join(name(k)), &many).unwrap();
    }
    fs::write(folder.path().join(name(MAPPED)), lines(&nearly_solved(1))).unwrap();
    let endless = Faulty::new(Fault::Endless);
    let counters = endless.counters.clone();
    let mut config = config_with(endless);
    config.data_dir = Some(folder.path().to_owned());
    // So that a stream that is not read has still something to read itself.
    config.limits.in_flight_per_stream = NonZeroUsize::new(1);
    let server = start(config).await;
    let mut streams = Vec::new();
    for k in 0..MAPPED {
        let call = server.client().await.solve_dataset(whole(&name(k))).await;
        streams.push(call.unwrap());
    }
    eventually("work", || counters.running() > 0).await;
    let last = SolveDatasetRequest { options: Some(by("backtracking")), ..whole(&name(MAPPED)) };
    let status = solve(&server, last.clone()).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert_eq!(status.get_error_details().quota_failure().unwrap().violations[0].subject, "datasets");

    streams.clear();
    eventually("the end of the work", || counters.running() == 0).await;
    let start = Instant::now();
    let responses = loop {
        // The server sees the end of the calls a little later than their client.
        match solve(&server, last.clone()).await {
            Err(status) if status.code() == Code::ResourceExhausted && start.elapsed() < PATIENCE => {}
            result => break result.unwrap(),
        }
    };
    assert_eq!(responses.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_leaves_data_sets_to_others() {
    /// The share of one client alone, two thirds of those that may be read at once.
    const SHARE: usize = 43;
    let folder = TempDir::new().unwrap();
    let name = |k: usize| format!("set{k}.txt");
    // More than one chunk of lines.
    let many = lines(&nearly_solved(3000));
    for k in 0..SHARE + 6 {
        fs::write(folder.path().join(name(k)), &many).unwrap();
    }
    let mut config = config_with(Faulty::new(Fault::Endless));
    config.data_dir = Some(folder.path().to_owned());
    // So that a stream that is not read has still something to read itself.
    config.limits.in_flight_per_stream = NonZeroUsize::new(1);
    let server = start(config).await;
    let (mut greedy, mut other) = (server.client().await, server.client().await);
    let mut streams = Vec::new();
    for k in 0..SHARE {
        streams.push(greedy.solve_dataset(whole(&name(k))).await.unwrap());
    }
    let status = greedy.solve_dataset(whole(&name(SHARE))).await.unwrap_err();
    assert_eq!(
        status.message(),
        "This client has 43 of this server's 64 data sets in use at once, and others have their share."
    );
    let info = status.get_details_error_info().unwrap();
    assert_eq!((info.reason.as_str(), info.metadata["limit"].as_str()), ("DATASETS_REACHED", "datasets"));
    for k in SHARE..SHARE + 5 {
        streams.push(other.solve_dataset(whole(&name(k))).await.unwrap());
    }
    // One that is read is there for everybody.
    streams.push(greedy.solve_dataset(whole(&name(SHARE))).await.unwrap());
    streams.push(greedy.solve_dataset(whole(&name(0))).await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_folder_there_are_no_data_sets() {
    let server = start(config()).await;
    assert_eq!(solve(&server, whole("x")).await.unwrap_err().code(), Code::NotFound);
    let list = server.client().await.list_datasets(ListDatasetsRequest::default()).await.unwrap();
    assert!(list.into_inner().datasets.is_empty());
    let missing = Config { data_dir: Some("/no/such/folder".into()), ..config() };
    let error = Server::bind(missing).await.err().unwrap().to_string();
    assert!(error.starts_with("The data directory /no/such/folder cannot be opened:"), "{error}");
}
