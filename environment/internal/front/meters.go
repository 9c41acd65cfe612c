package front

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/bailey-go/bailey/environment/internal/jobs"
)

// maxLabels is the most tenants that have a label of their own. The others are "other".
const maxLabels = 100

// meters are the instruments. Their attributes are a tenant and words of the source, so their number is bounded.
type meters struct {
	f        *Front
	starts   metric.Float64Histogram
	runs     metric.Float64Histogram
	pauses   metric.Int64Counter
	refusals metric.Int64Counter
	requests metric.Int64Counter
	tokens   metric.Int64Counter
	watched  metric.Registration
}

// starting are the bounds of the histogram of starts, in seconds.
var starting = []float64{0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}

func newMeters(p metric.MeterProvider, f *Front) (*meters, error) {
	if p == nil {
		p = noop.NewMeterProvider()
	}
	m := p.Meter("github.com/bailey-go/bailey/environment/internal/front")
	x := &meters{f: f}
	var errs [7]error
	x.starts, errs[0] = m.Float64Histogram("bailey.front.job.start.duration", metric.WithUnit("s"), metric.WithDescription("Time to create a job or to resume one from its snapshot"), metric.WithExplicitBucketBoundaries(starting...))
	x.runs, errs[1] = m.Float64Histogram("bailey.front.run.duration", metric.WithUnit("s"), metric.WithDescription("Time of runs, by result: done, stopped, unstored or lost"), metric.WithExplicitBucketBoundaries(0.1, 0.5, 1, 5, 15, 60, 300, 900, 1800))
	x.pauses, errs[2] = m.Int64Counter("bailey.front.job.pauses", metric.WithDescription("Tries to pause a job, by result: done, conflict or failed"))
	x.refusals, errs[3] = m.Int64Counter("bailey.front.refusals", metric.WithDescription("Requests that were refused, by reason"))
	x.requests, errs[5] = m.Int64Counter("bailey.front.model.requests", metric.WithDescription("Requests of jobs to the model, by result: done, cut or the reason of a refusal"))
	x.tokens, errs[6] = m.Int64Counter("bailey.front.model.tokens", metric.WithDescription("Tokens of the model, as its server reports them"))
	gauge, err := m.Int64ObservableGauge("bailey.front.jobs", metric.WithDescription("Jobs, by state: idle or running"))
	if errs[4] = err; err == nil {
		x.watched, errs[4] = m.RegisterCallback(func(_ context.Context, o metric.Observer) error {
			counts := map[[2]string]int64{}
			f.mu.Lock()
			for _, s := range f.sessions {
				if state := s.state.Load(); state != without {
					counts[[2]string{x.label(s.tenant), map[int32]string{idle: "idle", running: "running"}[state]}]++
				}
			}
			f.mu.Unlock()
			for of, n := range counts {
				o.ObserveInt64(gauge, n, metric.WithAttributes(attribute.String("tenant", of[0]), attribute.String("state", of[1])))
			}
			return nil
		}, gauge)
	}
	return x, errors.Join(errs[:]...)
}

func (m *meters) close() error { return m.watched.Unregister() }

// label returns the attribute of a tenant.
func (m *meters) label(tenant string) string {
	if tenant == "" {
		return "none"
	}
	if i := slices.Index(m.f.tenants.Load().names, tenant); i < 0 || i >= maxLabels {
		return "other"
	}
	return tenant
}

func (m *meters) with(tenant string, more ...attribute.KeyValue) metric.MeasurementOption {
	return metric.WithAttributes(append(more, attribute.String("tenant", m.label(tenant)))...)
}

func (m *meters) started(tenant string, resumed bool, took time.Duration) {
	kind := "new"
	if resumed {
		kind = "resumed"
	}
	m.starts.Record(context.Background(), took.Seconds(), m.with(tenant, attribute.String("kind", kind)))
}

func (m *meters) ran(tenant, result string, took time.Duration) {
	m.runs.Record(context.Background(), took.Seconds(), m.with(tenant, attribute.String("result", result)))
}

func (m *meters) paused(tenant string, err error) {
	result := "failed"
	switch {
	case err == nil:
		result = "done"
	case errors.Is(err, jobs.ErrConflict):
		result = "conflict"
	}
	m.pauses.Add(context.Background(), 1, m.with(tenant, attribute.String("result", result)))
}

func (m *meters) refused(tenant, reason string) {
	m.refusals.Add(context.Background(), 1, m.with(tenant, attribute.String("reason", reason)))
}

func (m *meters) asked(tenant, result string, tokens int64) {
	m.requests.Add(context.Background(), 1, m.with(tenant, attribute.String("result", result)))
	m.tokens.Add(context.Background(), tokens, m.with(tenant))
}
