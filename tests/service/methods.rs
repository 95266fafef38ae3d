//! The unary methods.

use bytes::Bytes;
use sudoku_stream::service::proto::{
    self, AddedColumn, CheckRequest, CountRequest, ErrorCode, Notation, Question, SolveOptions, SolveRequest,
    TextOptions, ValidateRequest,
};
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use crate::harness::server::{Fault, Faulty, Running, config, config_with, nearly_solved, start};
use crate::harness::{assert_solves, by, error, lines, solution};

async fn solve(server: &Running, options: SolveOptions, text: &str) -> Result<Vec<proto::Answer>, Status> {
    let text = Bytes::copy_from_slice(text.as_bytes());
    let request = SolveRequest { options: Some(options), text, ..Default::default() };
    Ok(server.client().await.solve(request).await?.into_inner().answers)
}

fn rows(puzzle: &str) -> String {
    puzzle.as_bytes().chunks(9).map(|row| format!("{}\n", str::from_utf8(row).unwrap())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn solve_answers_a_puzzle_in_any_notation() {
    let server = start(config()).await;
    let puzzle = &nearly_solved(1)[0];
    let triples: String = (0..81)
        .filter(|&i| &puzzle[i..=i] != ".")
        .map(|i| format!("{} {} {}\n", i / 9 + 1, i % 9 + 1, &puzzle[i..=i]))
        .collect();
    let texts = [
        puzzle.clone(),
        format!("\u{feff}# mine\r\n\r\n{puzzle} easy\r\n"),
        format!("3\n{puzzle}\n"),
        rows(puzzle),
        triples,
        format!("puzzle,solution\n{puzzle},\n"),
    ];
    for text in texts {
        let answers = solve(&server, SolveOptions::default(), &text).await.unwrap();
        assert_eq!(answers.len(), 1, "{text}");
        assert_solves(solution(&answers[0]), puzzle);
        assert_eq!(answers[0].line, 0);
        assert!(answers[0].metrics.unwrap().nodes > 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_puzzle_is_an_answer_in_exact_words() {
    let server = start(config()).await;
    let puzzle = &nearly_solved(1)[0];
    let clash = format!("55{}", ".".repeat(79));
    // Row 1 leaves only 9 for its last cell, which column 9 holds.
    let unsolvable = format!("12345678.{}9{}", ".".repeat(8), ".".repeat(63));
    let cases = [
        ("", ErrorCode::Empty, "The puzzle is empty."),
        ("# nothing\n", ErrorCode::Empty, "The puzzle is empty."),
        ("3\n", ErrorCode::Empty, "The puzzle is empty."),
        (
            &puzzle[1..],
            ErrorCode::WrongLength,
            "The puzzle has 80 cells; a puzzle has 1, 16, 81, 256 or 625.",
        ),
        ("7\n.\n", ErrorCode::InvalidBlockSize, "Invalid block size."),
        (&clash, ErrorCode::RuleBroken, "The puzzle breaks the rules: 5 appears twice in row 1."),
        (&unsolvable, ErrorCode::NoSolution, "The puzzle has no solution."),
    ];
    for (text, code, message) in cases {
        let answers = solve(&server, SolveOptions::default(), text).await.unwrap();
        assert_eq!(answers.len(), 1, "{text}");
        let error = error(&answers[0]);
        assert_eq!((error.code(), error.message.as_str(), error.line), (code, message, 0));
    }

    let two = format!("\n{puzzle}\n{clash}\n");
    let answers = solve(&server, SolveOptions::default(), &two).await.unwrap();
    assert_solves(solution(&answers[0]), puzzle);
    assert_eq!(answers[0].line, 2);
    assert_eq!(error(&answers[1]).message, "Line 3 breaks the rules: 5 appears twice in row 1.");
    assert_eq!(error(&answers[1]).line, 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_that_is_not_plain_is_refused_by_what_it_is() {
    let server = start(config()).await;
    for (text, what) in [
        ("\u{93}NUMPY\u{1}", "is a NumPy array"),
        ("\u{ff}\u{fe}1\0", "is in UTF-16"),
        ("\u{1f}\u{8b}", "is compressed"),
    ] {
        // The first byte of what is compressed is no character of its own.
        let text: Vec<u8> = text.chars().map(|c| u8::try_from(c).unwrap()).collect();
        let request = SolveRequest { text: text.into(), ..Default::default() };
        let status = server.client().await.solve(request).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(
            status.message().starts_with(&format!("The text {what}. The service reads plain text: ")),
            "{status}"
        );
        assert_eq!(status.get_error_details().bad_request().unwrap().field_violations[0].field, "text");
    }
    // One line, of which all but one puzzle would be lost.
    let old = format!("id,puzzle\r1,{0}\r2,{0}\r", ".".repeat(81));
    let status = solve(&server, SolveOptions::default(), &old).await.unwrap_err();
    assert!(status.message().starts_with("Line 1 goes on behind carriage returns; "), "{status}");
    // Addresses, arrays and XML are.
    for text in [
        "https://example.org/?p=12..34....1.....",
        "# mine\n[1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]",
        "<?xml version=\"1.0\"?><opensudoku><game data=\"1200340000100000\"/></opensudoku>",
    ] {
        let answers = solve(&server, SolveOptions::default(), text).await.unwrap();
        assert_solves(solution(&answers[0]), "12..34....1.....");
    }
    // Brackets and addresses may be titles.
    let grid = "12..\n34..\n..1.\n....\n";
    for title in ["[1]", "http://example.org/1"] {
        let answers = solve(&server, SolveOptions::default(), &format!("{title}\n{grid}")).await.unwrap();
        assert_solves(solution(&answers[0]), &grid.replace('\n', ""));
    }
    // Brackets may be symbols.
    let answers = solve(&server, SolveOptions::default(), "[1..............").await.unwrap();
    assert_eq!(error(&answers[0]).code(), ErrorCode::InvalidCharacter);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sentences_name_fields_and_no_flags() {
    let server = start(config()).await;
    let answers = solve(&server, SolveOptions::default(), "1\n.\n1\n").await.unwrap();
    assert_eq!(
        error(&answers[0]).message,
        "Invalid block size. If this is a list of 1x1 puzzles, set options.notation to NOTATION_LINES."
    );
    let counted = format!("6\n{0}\n{0}\n", ".".repeat(81));
    let answers = solve(&server, SolveOptions::default(), &counted).await.unwrap();
    assert_eq!(
        error(&answers[0]).message,
        "Invalid block size. If the first line is the number of puzzles, delete it, or set options.notation to \
         NOTATION_LINES, which reads it as a bad puzzle."
    );
    let hex = format!("F0{}", ".".repeat(254));
    let rows = format!("{}\n", ".".repeat(16)).repeat(16);
    let cells = (1..=9).map(|row| format!("{}{row}\n", ".,".repeat(81))).collect();
    for (text, end) in [
        (hex, "Say which with options.alphabet: hex or letters."),
        (rows, "Say which with options.notation."),
        (cells, "Set options.column to 2 for the last, or leave out the last column for the first."),
    ] {
        let status = solve(&server, SolveOptions::default(), &text).await.unwrap_err();
        assert!(status.message().ends_with(end), "{status}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_and_limits_are_obeyed() {
    let server = start(config()).await;
    let blank = ".".repeat(16);
    let unique = SolveOptions { question: Question::Unique.into(), ..Default::default() };
    let answers = solve(&server, unique, &blank).await.unwrap();
    assert_eq!(error(&answers[0]).code(), ErrorCode::NotUnique);

    for (limit, count, exact) in [(0, 288, true), (10, 10, false)] {
        let options =
            SolveOptions { question: Question::Count.into(), count_limit: limit, ..Default::default() };
        let answers = solve(&server, options, &blank).await.unwrap();
        assert_eq!(answers[0].result, Some(proto::answer::Result::Count(count)));
        assert_eq!(answers[0].count_is_exact, exact);
    }

    let few = SolveOptions { node_limit: 3, strategy: "backtracking".to_owned(), ..Default::default() };
    let answers = solve(&server, few, &nearly_solved(1)[0]).await.unwrap();
    assert_eq!(error(&answers[0]).message, "The puzzle was given up after 3 nodes.");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_limit_above_the_servers_is_lowered() {
    let mut config = config();
    config.limits.nodes = 4;
    let server = start(config).await;
    for node_limit in [0, u64::MAX] {
        let options = SolveOptions { node_limit, strategy: "backtracking".to_owned(), ..Default::default() };
        let answers = solve(&server, options, &nearly_solved(1)[0]).await.unwrap();
        assert_eq!(error(&answers[0]).message, "The puzzle was given up after 4 nodes.");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_options_are_refused_by_the_name_of_the_field() {
    let server = start(config_with(Faulty::new(Fault::Panic))).await;
    let good = SolveOptions::default;
    let wide = ".".repeat(625);
    // A 0 of `hex` would be a blank in `letters`; sixteen blank lines are puzzles, or rows of one.
    let hex = format!("F0{}", ".".repeat(254));
    let rows = format!("{}\n", ".".repeat(16)).repeat(16);
    let cases = [
        (SolveOptions { strategy: "magic".to_owned(), ..good() }, ".", "options.strategy"),
        (SolveOptions { question: 77, ..good() }, ".", "options.question"),
        (SolveOptions { notation: -1, ..good() }, ".", "options.notation"),
        (SolveOptions { alphabet: "aa".to_owned(), ..good() }, ".", "options.alphabet"),
        (SolveOptions { order: 6, ..good() }, ".", "options.order"),
        (SolveOptions { output: 9, ..good() }, ".", "options.output"),
        // The answers have no place for it.
        (
            SolveOptions { added_columns: vec![AddedColumn::Rating.into()], ..good() },
            ".",
            "options.added_columns",
        ),
        (SolveOptions { column: "0".to_owned(), ..good() }, ".", "options.column"),
        (SolveOptions { alphabet: "hex".to_owned(), order: 5, ..good() }, ".", "options.alphabet"),
        (SolveOptions { strategy: "faulty".to_owned(), ..good() }, &wide, "options.strategy"),
        (good(), &hex, "options.alphabet"),
        (good(), &rows, "options.notation"),
    ];
    for (options, text, field) in cases {
        let status = solve(&server, options, text).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{field}");
        let details = status.get_error_details();
        let violations = &details.bad_request().unwrap().field_violations;
        assert_eq!(violations.len(), 1);
        assert_eq!(violations[0].field, field);
        assert_eq!(violations[0].description, status.message());
        assert!(!status.message().is_empty());
        assert!(
            field != "options.column"
                || status.message() == "Write the name of a column, or its number from 1."
        );
    }
    for (text, field) in [(hex, "options.alphabet"), (rows, "options.notation")] {
        let request = ValidateRequest { text: Bytes::from(text), ..Default::default() };
        let status = server.client().await.validate(request).await.unwrap_err();
        let details = status.get_error_details();
        assert_eq!(details.bad_request().unwrap().field_violations[0].field, field);
    }
    let both = SolveOptions { order: 6, question: 77, ..good() };
    let status = solve(&server, both, ".").await.unwrap_err();
    let fields: Vec<_> = status
        .get_error_details()
        .bad_request()
        .unwrap()
        .field_violations
        .iter()
        .map(|v| v.field.clone())
        .collect();
    assert_eq!(fields, ["options.question", "options.order"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_in_a_unary_call_is_an_answer_to_each_puzzle() {
    let server = start(config_with(Faulty::new(Fault::Panic))).await;
    let puzzles = nearly_solved(3);
    let answers = solve(&server, SolveOptions::default(), &lines(&puzzles)).await.unwrap();
    let messages: Vec<_> = answers.iter().map(|answer| error(answer).message.clone()).collect();
    let sentence = "was not answered because of an internal error.";
    assert_eq!(messages, [1, 2, 3].map(|line| format!("Line {line} {sentence}")));
    let answers = solve(&server, SolveOptions::default(), &puzzles[0]).await.unwrap();
    assert_eq!(error(&answers[0]).message, format!("The puzzle {sentence}"));
    // The pool has survived it.
    let sound = by("backtracking");
    for _ in 0..4 {
        let answers = solve(&server, sound.clone(), &puzzles[0]).await.unwrap();
        assert_solves(solution(&answers[0]), &puzzles[0]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn validate_tells_all_errors_up_to_a_limit() {
    let server = start(config()).await;
    let mut client = server.client().await;
    let puzzles = nearly_solved(3);
    let text = format!("{}\n{}x\n\n{}\n{}z\n", puzzles[0], &puzzles[1], puzzles[2], &puzzles[0][1..]);
    let request = |error_limit| ValidateRequest {
        options: None,
        text: Bytes::copy_from_slice(text.as_bytes()),
        error_limit,
        ..Default::default()
    };
    let all = client.validate(request(0)).await.unwrap().into_inner();
    assert_eq!((all.valid, all.puzzles, all.bad_puzzles), (false, 4, 2));
    let messages: Vec<_> = all.errors.iter().map(|error| error.message.as_str()).collect();
    assert_eq!(messages[0], "Line 2 has the wrong length. It has 82 cells; a 9x9 puzzle has 81.");
    assert!(messages[1].starts_with("Line 5 has an invalid character."), "{}", messages[1]);
    let first = client.validate(request(1)).await.unwrap().into_inner();
    assert_eq!((first.bad_puzzles, first.errors.len()), (2, 1));

    let good = ValidateRequest { text: lines(&puzzles).into(), ..Default::default() };
    let good = client.validate(good).await.unwrap().into_inner();
    assert_eq!((good.valid, good.puzzles, good.errors.len()), (true, 3, 0));
    let empty = client.validate(ValidateRequest::default()).await.unwrap().into_inner();
    assert_eq!((empty.valid, empty.errors[0].message.as_str()), (false, "The puzzle is empty."));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn check_names_what_is_wrong_and_where() {
    let server = start(config()).await;
    let mut client = server.client().await;
    let puzzle = &nearly_solved(1)[0];
    let solved = solve(&server, SolveOptions::default(), puzzle).await.unwrap();
    let solved = solution(&solved[0]).to_owned();
    let mut wrong = solved.clone().into_bytes();
    wrong[1] = wrong[0];
    let wrong = String::from_utf8(wrong).unwrap();
    let mut check = async |text: &str| {
        let request = CheckRequest {
            options: None,
            text: Bytes::copy_from_slice(text.as_bytes()),
            ..Default::default()
        };
        client.check(request).await.unwrap().into_inner().grids
    };

    let grids = check(&solved).await;
    assert!(grids[0].solved);
    assert_eq!(grids[0].message, "The puzzle is correctly solved.");

    let grids = check(puzzle).await;
    assert!(!grids[0].solved && grids[0].flaws.is_empty());
    assert_eq!(grids[0].message, "The puzzle is NOT solved.");
    assert_eq!(grids[0].blanks as usize, puzzle.matches('.').count());

    let grids = check(&wrong).await;
    assert!(!grids[0].solved);
    let flaw = &grids[0].flaws[0];
    assert_eq!(flaw.kind(), proto::flaw::Kind::Conflict);
    let cells: Vec<_> = flaw.cells.iter().map(|cell| (cell.row, cell.column)).collect();
    assert_eq!(cells, [(1, 1), (1, 2)]);
    assert_eq!(flaw.digit.to_string(), wrong[..1]);
    assert!(flaw.message.ends_with("appears twice in row 1, at (1, 1) and (1, 2)"), "{}", flaw.message);

    let csv = format!("puzzle,solution\n{puzzle},{solved}\n{puzzle},{}\n", solution_of_another(puzzle));
    let grids = check(&csv).await;
    assert_eq!(grids[0].message, "Line 2 is correctly solved.");
    assert_eq!(grids[1].flaws[0].kind(), proto::flaw::Kind::ClueChanged);

    assert_eq!(check("").await[0].message, "The puzzle is empty.");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn check_counts_all_flaws_and_names_them_up_to_a_limit() {
    let server = start(config()).await;
    let text = format!("{}\n", "1".repeat(81)).repeat(100);
    let request = CheckRequest { text: text.into(), ..Default::default() };
    let grids = server.client().await.check(request).await.unwrap().into_inner().grids;
    assert_eq!(grids.len(), 100);
    // 27 houses, in each of which 8 cells repeat the digit.
    assert!(grids.iter().all(|grid| !grid.solved && grid.flaw_count == 216));
    assert_eq!(grids.iter().map(|grid| grid.flaws.len()).sum::<usize>(), 1000);
    assert_eq!(grids[..5].iter().map(|grid| grid.flaws.len()).collect::<Vec<_>>(), [216, 216, 216, 216, 136]);
    assert_eq!(grids[99].message, "Line 100 is NOT solved.");
}

/// A full grid that keeps the rules and none of the clues.
fn solution_of_another(puzzle: &str) -> String {
    let solved = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";
    assert!(puzzle.bytes().zip(solved.bytes()).all(|(clue, digit)| clue == b'.' || clue == digit));
    solved.bytes().map(|digit| char::from(b'1' + (digit - b'1' + 1) % 9)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn count_counts_one_puzzle() {
    use proto::count_response::Result as Counted;
    let server = start(config()).await;
    let mut client = server.client().await;
    let mut count = async |text: &str, count_limit| {
        let text = Bytes::copy_from_slice(text.as_bytes());
        client.count(CountRequest { text, count_limit, ..Default::default() }).await
    };
    let blank = ".".repeat(16);
    let all = count(&blank, 0).await.unwrap().into_inner();
    assert_eq!((all.result, all.count_is_exact), (Some(Counted::Count(288)), true));
    let some = count(&blank, 5).await.unwrap().into_inner();
    assert_eq!((some.result, some.count_is_exact), (Some(Counted::Count(5)), false));
    let clash = format!("11{}", ".".repeat(14));
    let Some(Counted::Error(error)) = count(&clash, 0).await.unwrap().into_inner().result else { panic!() };
    assert_eq!(error.code(), ErrorCode::RuleBroken);
    let several = count(&format!("{blank}\n{blank}\n"), 0).await.unwrap_err();
    assert_eq!(several.code(), Code::InvalidArgument);
    assert_eq!(several.get_error_details().bad_request().unwrap().field_violations[0].field, "text");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_said_about_a_text_is_obeyed() {
    let server = start(config()).await;
    let mut client = server.client().await;
    let request = |notation: Notation, order| ValidateRequest {
        options: Some(TextOptions { notation: notation.into(), order, ..TextOptions::default() }),
        text: Bytes::from_static(b"................\n"),
        error_limit: 0,
        ..Default::default()
    };
    assert!(client.validate(request(Notation::Lines, 0)).await.unwrap().into_inner().valid);
    let wrong = client.validate(request(Notation::Lines, 3)).await.unwrap().into_inner();
    assert_eq!(
        wrong.errors[0].message,
        "The puzzle has the wrong length. It has 16 cells; a 9x9 puzzle has 81."
    );
    let bad = client.validate(request(Notation::Lines, 9)).await.unwrap_err();
    assert_eq!(bad.get_error_details().bad_request().unwrap().field_violations[0].field, "options.order");
}
