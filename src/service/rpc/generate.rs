//! `Generate`: making puzzles for a client.

use std::ops::RangeInclusive;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Request, Status};

use crate::answer::{Cancel, Cancelled};
use crate::counted::counted;
use crate::generate::{
    Constraints, DEFAULT_ATTEMPTS, Difficulty, Generator, Grids, Kind, Recipe, RecipeError, Symmetry,
    any_seed,
};
use crate::grid::Order;
use crate::pipeline::catch_panic;
use crate::service::context::Context;
use crate::service::metrics;
use crate::service::rpc::options::{TENTHS, order, score, unknown};
use crate::service::rpc::ordered::{Submitter, answers};
use crate::service::sched::pools::WorkSize;
use crate::service::wire::proto;
use crate::service::wire::status::RequestFields;
use crate::service::wire::status::{shutting_down, work_broke_down};
use crate::techniques::{Score, Technique, TechniqueError};
use crate::text::{Alphabet, Format, Notation};

/// The most puzzles in a response, so that calls share the pools and a response stays below the
/// size that clients accept.
const MAX_PUZZLES_PER_RESPONSE: usize = 4096;

/// The puzzles, each message with the number of those given up so far.
pub(crate) type GenerateStream = Pin<Box<dyn Stream<Item = Result<proto::GenerateResponse, Status>> + Send>>;

/// The options of a call, read and checked.
struct GenerateSettings {
    generator: Generator,
    format: Format,
    count: u64,
    with_solutions: bool,
}

/// Makes puzzles.
pub(crate) fn serve(
    context: &Arc<Context>,
    request: Request<proto::GenerateRequest>,
) -> Result<GenerateStream, Status> {
    let call = context.admit(&request)?;
    let asked = Arc::new(generate_settings(context, &request.into_inner())?);
    let shared = Arc::clone(context);
    let made = answers(context, call, |submitter| submit_all(shared, asked, submitter));
    let mut given_up = 0;
    // A job that panicked has no puzzles, and puzzles must not be left out silently.
    let whole = made.map(move |made| {
        let mut response: proto::GenerateResponse = made?.ok_or_else(work_broke_down)?;
        given_up += response.given_up;
        response.given_up = given_up;
        Ok(response)
    });
    Ok(Box::pin(whole))
}

/// Puzzles that are made together: the number of the first, from 0, and their count.
type PuzzleRange = (u64, usize);

/// Submits job after job until all puzzles are made, or until the client has gone or the server
/// shuts down.
async fn submit_all(
    context: Arc<Context>,
    asked: Arc<GenerateSettings>,
    submitter: Submitter<[Option<proto::GenerateResponse>; 1]>,
) -> Result<(), Status> {
    let threads = context.pools.threads();
    let job = asked.generator.recipe().job(asked.count, threads).min(MAX_PUZZLES_PER_RESPONSE);
    let job = job.min(submitter.batch_puzzles());
    let mut first = 0;
    while first < asked.count {
        let Some(slot) = submitter.slot().await else { break };
        if context.is_draining() {
            return Err(shutting_down());
        }
        let count = usize::try_from(asked.count - first).unwrap_or(job).min(job);
        submitter.state().read(0, count as u64);
        submitter.covered(submitter.take(count as u64)).await;
        let asked = Arc::clone(&asked);
        let work =
            move |&job: &PuzzleRange, cancel: &dyn Cancel| make(&asked, job, cancel).map(|made| [made]);
        slot.start(WorkSize::Large, vec![(first, count)], Arc::new(work)).await;
        first += count as u64;
    }
    Ok(())
}

/// Makes some puzzles. `None` if the work panicked.
fn make(
    asked: &GenerateSettings,
    (first, count): PuzzleRange,
    cancel: &dyn Cancel,
) -> Result<Option<proto::GenerateResponse>, Cancelled> {
    let GenerateSettings { generator, format, with_solutions, .. } = asked;
    let Ok(made) = catch_panic(|| generator.make(first, count, cancel.flag())) else {
        return Ok(None);
    };
    let made = made?;
    let asked_for = made.len() as u64;
    let (mut puzzles, mut solutions, mut given_up) = (Vec::new(), Vec::new(), 0);
    for puzzle in made {
        let Ok(puzzle) = puzzle else {
            given_up += 1;
            continue;
        };
        format.write_line(puzzle.clues.digits(), &mut puzzles);
        if let Some(solution) = puzzle.solution.as_ref().filter(|_| *with_solutions) {
            format.write_line(solution.digits(), &mut solutions);
        }
    }
    metrics::generated(asked_for - given_up, given_up);
    Ok(Some(proto::GenerateResponse {
        seed: generator.seed(),
        puzzles: Bytes::from(puzzles),
        solutions: Bytes::from(solutions),
        given_up,
    }))
}

/// Reads the options of a call.
///
/// # Errors
/// `INVALID_ARGUMENT` that names every bad field.
fn generate_settings(
    context: &Context,
    request: &proto::GenerateRequest,
) -> Result<GenerateSettings, Status> {
    let mut fields = RequestFields::at_top();
    let order = fields.read("order", order(request.order)).flatten().unwrap_or(Order::NINE);
    let count = fields.read("count", count(context, request.count, order)).unwrap_or_default();
    let kind = match request.random_clues {
        Some(clues) => {
            fields.read("random_clues", alone(request));
            Kind::RandomClues(number(clues))
        }
        None => Kind::Puzzle(Constraints {
            grids: fields.read("grid_source", grids(request.grid_source)).unwrap_or_default(),
            clues: request.clues.map(number),
            minimal: request.minimal,
            symmetry: fields.read("symmetry", symmetry(request.symmetry)).unwrap_or_default(),
            difficulty: difficulty(request, &mut fields),
            rating: ratings(request, &mut fields),
            technique: fields.read("technique", technique(&request.technique)).unwrap_or_default(),
        }),
    };
    let parsed = match request.alphabet.as_str() {
        "" => Ok(Alphabet::Letters),
        name => name.parse::<Alphabet>().map_err(|error| error.to_string()),
    };
    let format = parsed.and_then(|alphabet| {
        Format::new(Notation::Lines, order, alphabet).map_err(|error| error.to_string())
    });
    let format = fields.read("alphabet", format);

    let attempts = if request.attempts == 0 { DEFAULT_ATTEMPTS } else { request.attempts };
    let recipe = Recipe { order, kind, attempts: attempts.min(context.limits().attempts) };
    let field = match (recipe.check(), &recipe.kind) {
        (Err(RecipeError::Symmetry { .. }), _) => "symmetry",
        (Err(RecipeError::Rating { .. }), _) => "least_rating_tenths",
        (Err(RecipeError::Technique(_)), _) => "technique",
        (_, Kind::RandomClues(_)) => "random_clues",
        _ => "clues",
    };
    let generator = Generator::new(recipe, request.seed.unwrap_or_else(any_seed));
    let generator = fields.read(field, generator.map_err(|error| error.to_string()));
    match (generator, format) {
        (Some(generator), Some(format)) if fields.are_good() => {
            Ok(GenerateSettings { generator, format, count, with_solutions: request.with_solutions })
        }
        _ => Err(fields.into_status()),
    }
}

/// The number of puzzles to make: 1 by default.
fn count(context: &Context, asked: u64, order: Order) -> Result<u64, String> {
    let limit = match order.box_side() {
        5 => context.limits().generated.div_ceil(1000),
        4 => context.limits().generated.div_ceil(100),
        _ => context.limits().generated,
    };
    match asked {
        0 => Ok(1),
        _ if asked > limit => {
            Err(format!("A call can have {} made at most.", counted(limit, &format!("{order} puzzle"))))
        }
        _ => Ok(asked),
    }
}

/// A number of cells. One that is too large saturates, and is refused as a number of cells.
fn number(wire: u32) -> usize {
    usize::try_from(wire).unwrap_or(usize::MAX)
}

/// Refuses random clues together with constraints on puzzles.
fn alone(request: &proto::GenerateRequest) -> Result<(), String> {
    let is_alone = request.clues.is_none()
        && !request.minimal
        && request.symmetry == 0
        && request.difficulty == 0
        && request.grid_source == 0
        && request.least_rating_tenths == 0
        && request.most_rating_tenths == 0
        && request.technique.is_empty()
        && request.least_guesses.or(request.most_guesses).is_none();
    if is_alone { Ok(()) } else { Err("Random clues cannot be combined with other constraints.".to_owned()) }
}

fn symmetry(number: i32) -> Result<Symmetry, String> {
    use proto::Symmetry as S;
    Ok(match S::try_from(number).map_err(|_| unknown("symmetry", number))? {
        S::Unspecified | S::None => Symmetry::None,
        S::Rotational => Symmetry::Rotational,
        S::Rotational90 => Symmetry::Rotational90,
        S::Horizontal => Symmetry::Horizontal,
        S::Vertical => Symmetry::Vertical,
        S::Diagonal => Symmetry::Diagonal,
        S::Antidiagonal => Symmetry::Antidiagonal,
        S::Full => Symmetry::Full,
    })
}

fn grids(number: i32) -> Result<Grids, String> {
    use proto::GridSource as G;
    Ok(match G::try_from(number).map_err(|_| unknown("source of grids", number))? {
        G::Unspecified | G::Random => Grids::Random,
        G::Shuffled => Grids::Shuffled,
    })
}

/// Reads the range of ratings.
fn ratings(request: &proto::GenerateRequest, fields: &mut RequestFields) -> Option<RangeInclusive<Score>> {
    let (least, most) = (request.least_rating_tenths, request.most_rating_tenths);
    if (least, most) == (0, 0) {
        return None;
    }
    let least = fields.read("least_rating_tenths", score(least))?;
    let most = fields.read("most_rating_tenths", score(most))?;
    let least = least.unwrap_or(Score::from_tenths(*TENTHS.start()));
    let most = most.unwrap_or(Score::from_tenths(*TENTHS.end()));
    if least > most {
        let what = format!("{most} is less than {least}, the lowest rating.");
        fields.read::<()>("most_rating_tenths", Err(what));
    }
    Some(least..=most)
}

fn technique(name: &str) -> Result<Option<Technique>, String> {
    if name.is_empty() {
        return Ok(None);
    }
    name.parse().map(Some).map_err(|error: TechniqueError| error.to_string())
}

/// Reads the difficulty: a name, or a range of guesses.
fn difficulty(request: &proto::GenerateRequest, fields: &mut RequestFields) -> Difficulty {
    use proto::Difficulty as D;
    let number = request.difficulty;
    let named = D::try_from(number).map_err(|_| unknown("difficulty", number)).map(|named| match named {
        D::Unspecified | D::Any => Difficulty::Any,
        D::Easy => Difficulty::Easy,
        D::Medium => Difficulty::Medium,
        D::Hard => Difficulty::Hard,
    });
    let (least, most) = (request.least_guesses, request.most_guesses);
    if least.or(most).is_none() {
        return fields.read("difficulty", named).unwrap_or_default();
    }
    if number != 0 {
        let what = "A difficulty cannot be combined with numbers of guesses.".to_owned();
        fields.read::<()>("difficulty", Err(what));
    }
    let guesses = least.unwrap_or(0)..=most.unwrap_or(u64::MAX);
    if guesses.is_empty() {
        let what = format!("{} is less than {}, the fewest guesses.", guesses.end(), guesses.start());
        fields.read::<()>("most_guesses", Err(what));
    }
    Difficulty::Guesses(guesses)
}
