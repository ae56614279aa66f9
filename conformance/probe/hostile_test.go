package probe_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/conformancetest"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

// answerUnder answers paths that end with the suffix by another handler.
func answerUnder(suffix string, serve http.HandlerFunc) func(*node) {
	return func(n *node) {
		n.before = func(_ *node, w http.ResponseWriter, q *http.Request) bool {
			if !strings.HasSuffix(strings.TrimSuffix(q.URL.Path, "/"), suffix) {
				return false
			}
			serve(w, q)
			return true
		}
	}
}

var _ = Describe("A run against a node with faults", func() {
	It("tries the bearer rules on an operation when the info endpoint is open", func() {
		n := newNode(answerUnder("/info", func(w http.ResponseWriter, q *http.Request) { _, _ = w.Write([]byte(`{"endpoints":{}}`)) }))
		log := certify(targetOf(n))
		Expect(log.Roles.ProbeTarget).To(Equal(evidence.Resource("op/listFundings")))
		Expect(log.Resolve("P.tampered")).To(Equal([]evidence.Label{"op/listFundings.tampered"}))
		x, _ := log.Get("op/listFundings.first-token")
		Expect(x.Status()).To(Equal(200))
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
	})

	It("tries the bearer rules on an operation when the info endpoint refuses good tokens, too", func() {
		n := newNode(answerUnder("/info", func(w http.ResponseWriter, q *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
		log := certify(targetOf(n))
		Expect(log.Roles.ProbeTarget).To(Equal(evidence.Resource("op/listFundings")))
		x, _ := log.Get("op/listFundings.first-token")
		Expect(x.Status()).To(Equal(200))
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
	})

	It("has no probe target when everything is open", func() {
		n := newNode(func(n *node) {
			n.before = func(_ *node, _ http.ResponseWriter, q *http.Request) bool {
				q.Header.Set("Authorization", "Bearer open")
				return false
			}
			n.tokens["open"] = "anybody"
		})
		log := certify(targetOf(n))
		Expect(log.Roles.ProbeTarget).To(BeEmpty())
		Expect(log.Roles.Operations).To(HaveLen(2))
	})

	It("explains every label when the node is down", func() {
		n := newNode()
		t := targetOf(n)
		n.Close()
		log := certify(t)
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
		x, _ := log.Get("token.ok")
		Expect(x.Failure.Kind).To(Equal(evidence.FailureConnect))
		why, _ := log.Skipped("token.wrong-secret")
		Expect(why.Kind).To(Equal(evidence.Unmet))
		Expect(why.Because).To(ContainSubstring("token endpoint did not answer"))
		Expect(log.Ended.Complete).To(BeTrue())
	})

	It("sends requests without a token, and none with one, when the client is refused", func() {
		n := newNode()
		t := targetOf(n)
		t.Credentials.ClientSecret = target.NewSecret("not-the-secret-at-all")
		log := certify(t)
		_, sent := log.Get("token.no-client")
		Expect(sent).To(BeTrue())
		for _, label := range []evidence.Label{"token.wrong-secret", "info.ok", "info.garbage", "op/listFundings.ok"} {
			why, skipped := log.Skipped(label)
			Expect(skipped).To(BeTrue(), string(label))
			Expect(why.Kind).To(Equal(evidence.Unmet), string(label))
		}
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
	})

	It("asks for listed items although the first one does not exist", func() {
		n := newNode(func(n *node) {
			n.before = func(_ *node, w http.ResponseWriter, q *http.Request) bool {
				gone := strings.HasSuffix(q.URL.Path, "/f-0") && q.Header.Get("Authorization") != ""
				if gone {
					w.WriteHeader(http.StatusNotFound)
				}
				return gone
			}
		})
		log := certify(targetOf(n))
		first, _ := log.Get("op/getFunding.item-first")
		last, _ := log.Get("op/getFunding.item-last")
		Expect([]int{first.Status(), last.Status()}).To(Equal([]int{404, 200}))
		why, _ := log.Skipped("op/getFunding.unknown-id")
		Expect(why.Because).To(ContainSubstring("was not answered with 2xx"))
	})

	It("ends when info redirects in circles", func() {
		n := newNode(answerUnder("/info", func(w http.ResponseWriter, q *http.Request) {
			http.Redirect(w, q, q.URL.Path+"?again", http.StatusFound)
		}))
		log := certify(targetOf(n))
		x, _ := log.Get("info.no-token")
		Expect(x.Redirects).To(HaveLen(1))
		Expect(x.Status()).To(Equal(http.StatusFound))
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
	})

	DescribeTable("continues without operations when there is no document to read",
		func(serve http.HandlerFunc, refused string) {
			n := newNode(answerUnder("/api-docs", serve))
			log := certify(targetOf(n))
			if refused == "" {
				Expect(log.Document).To(BeNil())
			} else {
				Expect(log.Document.Refused).To(ContainSubstring(refused))
			}
			Expect(log.Roles.List).To(BeEmpty())
			Expect(log.Roles.ProbeTarget).To(Equal(evidence.Info))
			x, _ := log.Get("info.tampered")
			Expect(x.Status()).To(Equal(401))
			Expect(labelsWithoutEnd(log)).To(BeEmpty())
		},
		Entry("HTML", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html><body>Swagger UI")) }, "JSON object"),
		Entry("none", http.NotFound, ""),
	)

	It("reads a document that needs a token", func() {
		n := newNode(func(n *node) {
			n.before = func(n *node, w http.ResponseWriter, q *http.Request) bool {
				closed := strings.HasSuffix(q.URL.Path, "/api-docs") && q.Header.Get("Authorization") == ""
				if closed {
					w.WriteHeader(http.StatusUnauthorized)
				}
				return closed
			}
		})
		log := certify(targetOf(n))
		Expect(log.Roles.List).To(Equal(evidence.Resource("op/listFundings")))
		x, _ := log.Get("op/getFunding.ok")
		Expect(x.Status()).To(Equal(200))
	})

	It("stays within the budget when every call is too many", func() {
		n := newNode(func(n *node) {
			n.before = func(_ *node, w http.ResponseWriter, q *http.Request) bool {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusTooManyRequests)
				return true
			}
		})
		log := certify(targetOf(n))
		Expect(len(n.log())).To(BeNumerically("<=", log.Run.Budget))
		Expect(log.Ended.Requests).To(Equal(len(n.log())))
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
	})

	It("works on the beginning of an endless list", func() {
		n := newNode(func(n *node) {
			n.before = func(_ *node, w http.ResponseWriter, q *http.Request) bool {
				endless := q.URL.Path == "/ris/funding/v3/fundings" && q.Method == http.MethodGet && strings.HasPrefix(q.Header.Get("Authorization"), "Bearer access-token-")
				if endless {
					_, _ = w.Write([]byte("["))
				}
				items := []byte(strings.Repeat(`{"id":"f-0","type":"CALL"},{"id":"f-1","type":"CALL"},{"id":"f-2","type":"CALL"},`, 50))
				for endless && q.Context().Err() == nil {
					if _, err := w.Write(items); err != nil {
						break
					}
				}
				return endless
			}
		})
		t := targetOf(n)
		log := certify(t, func(o *probe.Options) {
			o.Recorder = func(t target.Target, budget int) (*recorder.Recorder, error) {
				return recorder.New(recorder.Options{Journal: o.Journal, Redactor: o.Redactor, Clock: o.Clock, Budget: budget,
					ReadLimit: 4 << 10, Timeout: t.Politeness.Timeout, Concurrency: 8, AllowedOrigins: t.Origins(), Loopback: true})
			}
		})
		x, _ := log.Get("op/listFundings.ok")
		Expect(x.Response.Truncated).To(BeTrue())
		x, _ = log.Get("op/getFunding.item-last")
		Expect(x.Status()).To(Equal(200))
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
	})

	It("continues with the last token when each new token revokes the earlier ones", func() {
		n := newNode(func(n *node) { n.revokes = true })
		t := targetOf(n)
		t.Second = nil
		log := certify(t)
		for _, label := range []evidence.Label{"info.ok", "op/listFundings.ok", "op/getFunding.item-last", "endpoint/1.ok"} {
			x, _ := log.Get(label)
			Expect(x.Status()).To(Equal(200), string(label))
		}
		x, _ := log.Get("info.first-token")
		Expect(x.Status()).To(Equal(401), "and the first token is found to be dead")
	})

	It("survives a judge and a guard that panic", func() {
		n := newNode()
		log := certify(targetOf(n), func(o *probe.Options) { o.Guard = func([]byte) evidence.Document { panic("too much") } })
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
		Expect(log.Ended).NotTo(BeNil())
		x, _ := log.Get("info.tampered")
		Expect(x.Status()).To(Equal(401))
	})
})

var _ = Describe("The end of a run", func() {
	It("explains every label when the run is cancelled", func() {
		ctx, cancel := context.WithCancelCause(context.Background())
		n := newNode(func(n *node) {
			n.before = func(n *node, _ http.ResponseWriter, q *http.Request) bool {
				if strings.HasSuffix(q.URL.Path, "/info/") && q.Header.Get("Authorization") != "" { // before the POST
					cancel(errors.New("the operator pressed ^C"))
				}
				return false
			}
		})
		o, recorded := options(targetOf(n))
		Expect(probe.Run(ctx, o)).To(Succeed())
		log := o.Journal.Log()
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
		Expect(log.Ended.Complete).To(BeFalse())
		Expect(log.Ended.Cause).To(ContainSubstring("pressed ^C"))
		why, _ := log.Skipped("info.post")
		Expect(why.Kind).To(Equal(evidence.OverBudget))
		again, err := evidence.ReadLog(recorded)
		Expect(err).NotTo(HaveOccurred())
		Expect(again.Exchanges).To(HaveLen(len(log.Exchanges)))
	})

	It("comes soon after the node stops answering, and says which address that was", func() {
		for _, answered := range []int32{0, 20} {
			var requests atomic.Int32
			n := newNode(func(n *node) {
				n.before = func(_ *node, _ http.ResponseWriter, q *http.Request) bool {
					if requests.Add(1) <= answered {
						return false
					}
					<-q.Context().Done()
					return true
				}
			})
			t := targetOf(n)
			t.Politeness.Timeout = 100 * time.Millisecond
			o, _ := options(t)
			began := time.Now()
			Expect(probe.Run(context.Background(), o)).To(Succeed())
			Expect(time.Since(began)).To(BeNumerically("<", 5*time.Second))
			log := o.Journal.Log()
			Expect(labelsWithoutEnd(log)).To(BeEmpty())
			Expect(requests.Load()).To(BeNumerically("<", answered+30))
			Expect(log.Outages()).To(ConsistOf(And(HaveField("Origin", n.URL), HaveField("NotSent", BeNumerically(">", 0)))))
		}
	})

	It("does not come earlier because one path hangs", func() {
		n := newNode(func(n *node) {
			n.before = func(_ *node, _ http.ResponseWriter, q *http.Request) bool {
				hangs := strings.HasPrefix(q.URL.Path, "/ris/funding/v3/fundings/")
				if hangs {
					<-q.Context().Done()
				}
				return hangs
			}
		})
		t := targetOf(n)
		t.Politeness.Timeout = 100 * time.Millisecond
		o, _ := options(t)
		Expect(probe.Run(context.Background(), o)).To(Succeed())
		Expect(o.Journal.Log().Outages()).To(BeEmpty())
	})

	It("says how far the run slowed down for a busy node", func() {
		var requests atomic.Int32
		n := newNode(func(n *node) {
			n.before = func(_ *node, w http.ResponseWriter, _ *http.Request) bool {
				busy := requests.Add(1)%40 == 0
				if busy {
					w.Header().Set("Retry-After", "1")
					w.WriteHeader(http.StatusServiceUnavailable)
				}
				return busy
			}
		})
		log := certify(targetOf(n))
		Expect(log.Ended.Complete).To(BeTrue())
		Expect(log.Ended.Slowdown).To(HaveValue(HaveField("Status", 503)))
		Expect(log.Ended.Slowdown.Refusals).To(BeEquivalentTo(requests.Load() / 40))
		for _, x := range log.Exchanges {
			Expect(x.Status()).NotTo(Equal(503), string(x.Label))
		}
	})

	It("keeps to the deadline", func() {
		release := make(chan struct{})
		n := newNode(func(n *node) {
			n.before = func(_ *node, _ http.ResponseWriter, q *http.Request) bool {
				select {
				case <-release:
				case <-q.Context().Done():
				}
				return true
			}
		})
		defer close(release)
		t := targetOf(n)
		t.Politeness.Deadline = 200 * time.Millisecond
		log := certify(t)
		Expect(log.Ended.Complete).To(BeFalse())
		Expect(log.Ended.Cause).To(ContainSubstring("deadline"))
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
	})
})

var _ = Describe("Secrets and tokens", func() {
	It("go to the node's origins only", func() {
		var leaked atomic.Int32
		other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
			if q.Header.Get("Authorization") != "" || q.ContentLength > 0 {
				leaked.Add(1)
			}
		}))
		DeferCleanup(other.Close)
		n := newNode(func(n *node) {
			n.before = func(_ *node, w http.ResponseWriter, q *http.Request) bool {
				switch {
				case strings.HasSuffix(q.URL.Path, "/info/"):
					_, _ = fmt.Fprintf(w, `{"endpoints":{"funding":[{"name":"FUNDINGS","url":"%s/fundings"}]}}`, other.URL)
				case strings.Contains(q.URL.Path, "/fundings"):
					http.Redirect(w, q, other.URL+q.URL.Path, http.StatusTemporaryRedirect)
				default:
					return false
				}
				return true
			}
			n.document = strings.Replace((&node{}).spec(), `"/ris/funding/v3"`, `"`+other.URL+`/ris/funding/v3"`, 1)
		})
		log := certify(targetOf(n))
		Expect(leaked.Load()).To(BeZero())
		why, _ := log.Skipped("endpoint/1.ok")
		Expect(why.Because).To(ContainSubstring("--allow-origin"))
		Expect(log.Roles.OperationBase).To(HavePrefix(n.URL))
	})

	It("never reach the evidence", func() {
		n := newNode()
		o, recorded := options(targetOf(n))
		Expect(probe.Run(context.Background(), o)).To(Succeed())
		text := conformancetest.Text(recorded.Bytes())
		Expect(text).To(ContainSubstring("[[access_token:"))
		Expect(text).NotTo(ContainSubstring("access-token-number"))
		Expect(text).NotTo(ContainSubstring("access-tokeA-number"), "a tampered token tells most of the real one")
		Expect(text).NotTo(ContainSubstring("S3cret"))
		Expect(text).NotTo(ContainSubstring(secondSecret))
	})
})
