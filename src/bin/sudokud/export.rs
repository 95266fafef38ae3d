//! Spans of calls, sent to a collector of OpenTelemetry.
//!
//! They wait in a bounded queue and go out in batches, on a thread of their own. A collector that is slow or away costs
//! spans, never calls; it is logged now and then.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use opentelemetry::trace::{SpanKind, TracerProvider as _};
use opentelemetry_otlp::tonic_types::transport::ClientTlsConfig;
use opentelemetry_otlp::{SpanExporter as OtlpExporter, WithExportConfig as _, WithTonicConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracerProvider, SpanData, SpanExporter,
};
use sudoku_stream::build_info;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::registry::LookupSpan;

/// The most spans that wait to be sent. Beyond that they are dropped.
const MAX_WAITING: usize = 2048;

/// The most spans in a batch.
const MAX_BATCH: usize = 512;

/// How often a batch is sent that is not full.
const SEND_INTERVAL: Duration = Duration::from_secs(1);

/// How long the collector may take for a batch.
const SEND_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the last spans may take when the server ends.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(3);

/// How often it is logged that spans are lost.
const COMPLAINT_INTERVAL: Duration = Duration::from_secs(60);

/// Spans on their way to a collector.
pub struct Export {
    provider: SdkTracerProvider,
}

impl Export {
    /// Gets ready to send spans to `endpoint`; connects when there are some. Of the calls that are part of nobody's trace,
    /// `share` are sent, from 0 to 1. Must be called in a runtime.
    ///
    /// # Errors
    /// An endpoint that is no URL.
    pub fn new(endpoint: &str, share: f64) -> anyhow::Result<Self> {
        let is_url = ["http://", "https://"].iter().any(|scheme| endpoint.starts_with(scheme));
        ensure!(is_url, "Spans cannot be sent to {endpoint}. Give a URL such as http://127.0.0.1:4317.");
        let builder = OtlpExporter::builder().with_tonic().with_endpoint(endpoint).with_timeout(SEND_TIMEOUT);
        let builder = if endpoint.starts_with("https://") {
            builder.with_tls_config(ClientTlsConfig::new().with_native_roots())
        } else {
            builder
        };
        let exporter = builder.build().with_context(|| format!("Spans cannot be sent to {endpoint}"))?;
        let exporter = Complaining { exporter, complained: Mutex::new(None) };
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(MAX_WAITING)
            .with_max_export_batch_size(MAX_BATCH)
            .with_scheduled_delay(SEND_INTERVAL)
            .build();
        let resource = Resource::builder()
            .with_service_name("sudokud")
            .with_attribute(opentelemetry::KeyValue::new("service.version", build_info::VERSION));
        let provider = SdkTracerProvider::builder()
            .with_span_processor(BatchSpanProcessor::builder(exporter).with_batch_config(batches).build())
            .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(share))))
            .with_resource(resource.build())
            .build();
        Ok(Self { provider })
    }

    /// What picks up spans: those of calls, without the events in them.
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
            .with_filter(filter_fn(is_ours))
    }

    /// Sends what is left, unless that takes too long. It blocks.
    pub fn flush(&self) {
        if let Err(error) = self.provider.shutdown_with_timeout(FLUSH_TIMEOUT) {
            tracing::warn!(%error, "the last spans could not be sent");
        }
    }
}

/// An exporter that says when it fails, but not each time.
#[derive(Debug)]
struct Complaining {
    exporter: OtlpExporter,
    complained: Mutex<Option<Instant>>,
}

impl SpanExporter for Complaining {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        // All of them are calls, and this is the end that answers.
        for span in &mut batch {
            span.span_kind = SpanKind::Server;
        }
        let spans = batch.len();
        let result = self.exporter.export(batch).await;
        if let Err(error) = &result {
            let mut complained = self.complained.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if complained.is_none_or(|last| last.elapsed() >= COMPLAINT_INTERVAL) {
                *complained = Some(Instant::now());
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
