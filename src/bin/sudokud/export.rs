//! Export of spans of calls to an OpenTelemetry collector.
//!
//! Spans wait in a bounded queue and are sent in batches, on a thread of their own. A collector
//! that is slow or unreachable costs spans, never calls; the loss is logged, at most once a minute.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use opentelemetry::Key;
use opentelemetry::trace::{SpanKind, TracerProvider as _};
use opentelemetry_otlp::tonic_types::transport::ClientTlsConfig;
use opentelemetry_otlp::{SpanExporter as OtlpExporter, WithExportConfig as _, WithTonicConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracerProvider, SpanData, SpanExporter,
};
use sudoku_stream::build_info;
use sudoku_stream::poison::IgnorePoison as _;
use tracing::level_filters::LevelFilter;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::registry::LookupSpan;

/// The most spans that wait to be sent; further ones are dropped.
const MAX_WAITING: usize = 2048;

/// The most spans in a batch.
const MAX_BATCH: usize = 512;

/// How often an incomplete batch is sent.
const SEND_INTERVAL: Duration = Duration::from_secs(1);

/// The time-out of a batch.
const SEND_TIMEOUT: Duration = Duration::from_secs(5);

/// The time-out of the last spans when the server ends.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(3);

/// The shortest time between two log entries about lost spans.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

/// The exporter of spans.
pub struct Export {
    provider: SdkTracerProvider,
}

impl Export {
    /// An exporter to `endpoint`, connected at the first span. `share`, from 0 to 1, of the calls
    /// without a trace of their client are sent. Must be called in a runtime.
    ///
    /// # Errors
    /// An endpoint that is no URL.
    pub fn new(endpoint: &str, share: f64) -> anyhow::Result<Self> {
        let has_host = |rest: &str| !rest.is_empty() && !rest.starts_with('/');
        let is_url =
            ["http://", "https://"].iter().any(|scheme| endpoint.strip_prefix(scheme).is_some_and(has_host));
        ensure!(is_url, "Spans cannot be sent to {endpoint}. Give a URL such as http://127.0.0.1:4317.");
        let builder = OtlpExporter::builder().with_tonic().with_endpoint(endpoint).with_timeout(SEND_TIMEOUT);
        let builder = if endpoint.starts_with("https://") {
            builder.with_tls_config(ClientTlsConfig::new().with_native_roots())
        } else {
            builder
        };
        let exporter = builder.build().with_context(|| format!("Spans cannot be sent to {endpoint}"))?;
        let exporter = WarningExporter { exporter, warned_at: Mutex::new(None) };
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(MAX_WAITING)
            .with_max_export_batch_size(MAX_BATCH)
            .with_scheduled_delay(SEND_INTERVAL)
            .build();
        let resource = Resource::builder()
            .with_attribute(opentelemetry::KeyValue::new("service.version", build_info::VERSION));
        // A name of the environment stays: OTEL_SERVICE_NAME, or service.name in OTEL_RESOURCE_ATTRIBUTES.
        let of_environment = Resource::builder().build().get(&Key::from_static_str("service.name"));
        let is_named = of_environment.is_some_and(|name| !name.as_str().starts_with("unknown_service"));
        let resource = if is_named { resource } else { resource.with_service_name("sudokud") };
        let provider = SdkTracerProvider::builder()
            .with_span_processor(BatchSpanProcessor::builder(exporter).with_batch_config(batches).build())
            .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(share))))
            .with_resource(resource.build())
            .build();
        Ok(Self { provider })
    }

    /// The tracing layer that collects spans of calls, without their events.
    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        let is_ours =
            |metadata: &Metadata<'_>| metadata.is_span() && metadata.target().starts_with("sudoku_stream");
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("sudokud"))
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_location(false)
            .with_filter(FilterFn::new(is_ours).with_max_level_hint(LevelFilter::INFO))
    }

    /// Sends the remaining spans, blocking up to the time-out.
    pub fn flush(&self) {
        if let Err(error) = self.provider.shutdown_with_timeout(FLUSH_TIMEOUT) {
            tracing::warn!(%error, "the last spans could not be sent");
        }
    }
}

/// An exporter that logs failures, at a limited rate.
#[derive(Debug)]
struct WarningExporter {
    exporter: OtlpExporter,
    warned_at: Mutex<Option<Instant>>,
}

impl SpanExporter for WarningExporter {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        // All of them are calls, seen from the side of the server.
        for span in &mut batch {
            span.span_kind = SpanKind::Server;
        }
        let spans = batch.len();
        let result = self.exporter.export(batch).await;
        if let Err(error) = &result {
            let mut warned_at = self.warned_at.lock().ignore_poison();
            if warned_at.is_none_or(|last| last.elapsed() >= WARNING_INTERVAL) {
                *warned_at = Some(Instant::now());
                tracing::warn!(%error, spans, "spans could not be sent and are lost; calls are served all the same");
            }
        }
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
