//! The methods of the service, as the contract declares them.

/// A method of the service.
pub(crate) struct DeclaredMethod {
    /// The name, without that of the service.
    pub(crate) name: &'static str,
    /// Whether it takes a stream of messages.
    pub(crate) takes_stream: bool,
}

// `METHODS`: all of them in the order of the contract, by the build script.
include!(concat!(env!("OUT_DIR"), "/methods.rs"));

/// The name of the service.
pub(crate) const SERVICE: &str = "sudoku.v1.SudokuService";

/// The prefixes of the paths of other services, and the labels of their calls.
const OTHERS: [(&str, &str); 2] =
    [("/grpc.health.v1.Health/", "health"), ("/grpc.reflection.", "reflection")];

/// The labels of calls: the names of our methods, and what stands for others.
pub(crate) fn method_labels() -> Vec<&'static str> {
    let ours = METHODS.iter().map(|method| method.name);
    ours.chain(OTHERS.map(|(_, name)| name)).chain(["unknown"]).collect()
}

/// The labels of calls that are streams of messages.
pub(crate) fn stream_labels() -> Vec<&'static str> {
    METHODS.iter().filter(|method| method.takes_stream).map(|method| method.name).collect()
}

/// The label of a path. There are few of them, whatever clients send.
pub(crate) fn method_of(path: &str) -> &'static str {
    match path.strip_prefix('/').and_then(|path| path.strip_prefix(SERVICE)?.strip_prefix('/')) {
        Some(asked) => METHODS.iter().map(|method| method.name).find(|known| *known == asked),
        None => OTHERS.into_iter().find(|(begin, _)| path.starts_with(begin)).map(|(_, name)| name),
    }
    .unwrap_or("unknown")
}

/// The method of our service that has this label.
pub(crate) fn declared(label: &str) -> Option<&'static DeclaredMethod> {
    METHODS.iter().find(|method| method.name == label)
}

/// Whether a call of this path takes several messages, or may wait with its first one.
pub(crate) fn is_bidirectional(path: &str) -> bool {
    match method_of(path) {
        "health" => false,
        label => declared(label).is_none_or(|method| method.takes_stream),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_of_the_contract_has_its_own_name() {
        let contract = include_str!("../../../proto/sudoku/v1/sudoku.proto");
        let declared = contract.lines().filter_map(|line| line.trim().strip_prefix("rpc "));
        let declared: Vec<_> = declared.map(|rest| rest.split_once('(').unwrap()).collect();
        assert_eq!(declared.len(), METHODS.len());
        for ((name, rest), method) in declared.into_iter().zip(METHODS) {
            assert_eq!((method.name, method.takes_stream), (name, rest.starts_with("stream ")));
            let path = format!("/sudoku.v1.SudokuService/{name}");
            assert_eq!((method_of(&path), is_bidirectional(&path)), (name, method.takes_stream));
        }
        for path in ["/grpc.health.v1.Health/Watch", "/sudoku.v1.SudokuService/Solve"] {
            assert!(!is_bidirectional(path), "{path}");
        }
        for path in
            ["/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "/sudoku.v1.SudokuService/", "/"]
        {
            assert!(is_bidirectional(path), "{path}");
        }
        assert_eq!(method_of("/sudoku.v1.SudokuService/Check"), "Check");
        assert_eq!(method_of("/grpc.health.v1.Health/Check"), "health");
        assert_eq!(method_of("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"), "reflection");
        for other in ["/sudoku.v1.SudokuService/Solv", "/sudoku.v1.SudokuService/", "/Solve", "/", ""] {
            assert_eq!(method_of(other), "unknown", "{other}");
        }
    }
}
