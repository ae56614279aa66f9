package recorder_test

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/conformancetest"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
	"github.com/rin-network/rin/conformance/recorder"
)

func TestRecord(t *testing.T) {
	RegisterFailHandler(Fail)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(name, "http://127.0.0.1:1") // the recorder must ignore it
	}
	RunSpecs(t, "Record")
}

const (
	clientSecret = "a-very-secret/secret+1"
	accessToken  = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJzYSJ9.dGhpcyBpcyBhIHNpZ25hdHVyZQ"
)

// fixture is a recorder with its evidence, and with a clock that moves only when the recorder sleeps.
type fixture struct {
	recorder.Options
	file     bytes.Buffer
	recorder *recorder.Recorder

	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

func newFixture(change ...func(*recorder.Options)) *fixture {
	r := &fixture{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	r.Options = recorder.Options{
		Redactor: redact.New([]byte("salt")),
		Journal:  evidence.NewJournal(evidence.NewWriter(&r.file, r.clock)), Clock: r.clock, Sleep: r.sleep, Concurrency: 8, Timeout: 20 * time.Second,
	}
	for _, c := range change {
		c(&r.Options)
	}
	r.Redactor.Secret("client_secret", clientSecret)
	r.Journal.Begin(evidence.Run{})
	var err error
	r.recorder, err = recorder.New(r.Options)
	ExpectWithOffset(1, err).NotTo(HaveOccurred())
	DeferCleanup(r.recorder.Close)
	return r
}

func (r *fixture) clock() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

func (r *fixture) sleep(ctx context.Context, d time.Duration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slept = append(r.slept, d)
	r.now = r.now.Add(d)
	return ctx.Err()
}

func (r *fixture) send(ask recorder.Request) recorder.Answer {
	if ask.Label == "" {
		ask.Label = "info.ok"
	}
	return r.recorder.Send(context.Background(), ask)
}

// evidence reads back what was written, and asserts that it agrees with what is in memory.
func (r *fixture) evidence() *evidence.Log {
	ExpectWithOffset(1, r.Journal.Err()).NotTo(HaveOccurred())
	log, err := evidence.ReadLog(bytes.NewReader(r.file.Bytes()))
	ExpectWithOffset(1, err).NotTo(HaveOccurred())
	ExpectWithOffset(1, log).To(Equal(r.Journal.Log()))
	return log
}

// written returns the text of what was written.
func (r *fixture) written() string { return conformancetest.Text(r.file.Bytes()) }

func (r *fixture) recorded() evidence.Exchange {
	x, found := r.evidence().Get("info.ok")
	ExpectWithOffset(1, found).To(BeTrue())
	return x
}

func quiet(s *httptest.Server) *httptest.Server {
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	DeferCleanup(s.Close)
	return s
}

func serve(h http.HandlerFunc) *httptest.Server {
	s := quiet(httptest.NewUnstartedServer(h))
	s.Start()
	return s
}

func serveTLS(h http.HandlerFunc, h2 bool) *httptest.Server {
	s := quiet(httptest.NewUnstartedServer(h))
	s.EnableHTTP2 = h2
	s.StartTLS()
	return s
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }
}

// answers calls a handler of the list for each request, in order, and the last one for all further requests.
func answers(list ...http.HandlerFunc) http.HandlerFunc {
	var mu sync.Mutex
	return func(w http.ResponseWriter, q *http.Request) {
		mu.Lock()
		h := list[0]
		if len(list) > 1 {
			list = list[1:]
		}
		mu.Unlock()
		h(w, q)
	}
}

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Add(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

// hijacked returns a handler that writes bytes to the connection and closes it.
func hijacked(wire string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		io.WriteString(conn, wire)
		conn.Close()
	}
}
