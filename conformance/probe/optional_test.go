package probe_test

import (
	"context"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

var _ = Describe("Optional requests", func() {
	const detail = evidence.Label("op/getFunding.item-more-16")
	// onWallClock gives exchanges the times at which they happened.
	onWallClock := func(o *probe.Options) {
		o.Clock = time.Now
		journal, redactor := o.Journal, o.Redactor
		o.Recorder = func(t target.Target, budget int) (*recorder.Recorder, error) {
			return recorder.New(recorder.Options{
				Journal: journal, Redactor: redactor, Clock: time.Now, Budget: budget,
				Sleep:   func(context.Context, time.Duration) error { return nil },
				Timeout: t.Politeness.Timeout, Concurrency: t.Politeness.Concurrency,
				AllowedOrigins: t.Origins(), Loopback: t.Loopback(),
			})
		}
	}

	It("are sent after all others, and before the lists that seem to have changed are read again", func() {
		lists := 0
		log := certify(targetOf(newNode(cappedPages(func(int, map[string]any) {}), func(n *node) {
			pages := n.before
			n.before = func(n *node, w http.ResponseWriter, q *http.Request) bool {
				if q.URL.Path == "/ris/funding/v3/fundings" && q.Header.Get("Authorization") != "" {
					n.mu.Lock()
					if lists++; lists == 30 {
						n.items = append(n.items, map[string]any{"id": "f-new", "type": "CALL", "targetGroups": []string{"UNIVERSITY"}})
					}
					n.mu.Unlock()
				}
				return pages(n, w, q)
			}
		})), onWallClock)
		more, sent := log.Get(detail)
		Expect(sent).To(BeTrue())
		again, sent := log.Get("op/listFundings.list-again")
		Expect(sent).To(BeTrue())
		Expect(again.Started).NotTo(BeTemporally("<", more.Started.Add(more.Duration)))
		run, err := probe.Replan(log)
		Expect(err).NotTo(HaveOccurred())
		Expect(run.Disorder()).To(BeEmpty())
		Expect(log.Ended.Requests).To(BeNumerically("<=", log.Run.Budget))
	})

	It("are left out after the node refuses requests because of load", func() {
		details := 0
		log := certify(targetOf(newNode(cappedPages(func(int, map[string]any) {}), func(n *node) {
			pages := n.before
			n.before = func(n *node, w http.ResponseWriter, q *http.Request) bool {
				if strings.Contains(q.URL.Path, "/fundings/") {
					n.mu.Lock()
					details++
					refused := details > 10
					n.mu.Unlock()
					if refused {
						w.Header().Set("Retry-After", "1")
						w.WriteHeader(http.StatusTooManyRequests)
						return true
					}
				}
				return pages(n, w, q)
			}
		})))
		why, skipped := log.Skipped(detail)
		Expect(skipped).To(BeTrue())
		Expect(why.Because).To(ContainSubstring("refused requests for load"))
	})
})
