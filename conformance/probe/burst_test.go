package probe_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

// paced is a clock that moves only when the recorder waits.
type paced struct {
	mu  sync.Mutex
	now time.Time
}

func (p *paced) clock() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

func (p *paced) sleep(ctx context.Context, d time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = p.now.Add(d)
	return ctx.Err()
}

// certifyPaced certifies a node with the limits of the target, by a clock.
func certifyPaced(t target.Target, p *paced) *evidence.Log {
	GinkgoHelper()
	return certify(t, func(o *probe.Options) {
		o.Clock, o.Pause = p.clock, p.sleep
		o.Recorder = func(t target.Target, budget int) (*recorder.Recorder, error) {
			return recorder.New(recorder.Options{
				Journal: o.Journal, Redactor: o.Redactor, Clock: p.clock, Sleep: p.sleep, Budget: budget,
				Timeout: t.Politeness.Timeout, Rate: t.Politeness.Rate, Concurrency: t.Politeness.Concurrency, AllowedOrigins: t.Origins(), Loopback: t.Loopback(),
			})
		}
	})
}

var _ = Describe("Races at a node with a limited rate", func() {
	// remote is a target with the limits that nodes elsewhere get.
	remote := func(n *node) target.Target {
		t := targetOf(n)
		t.Politeness.Rate, t.Politeness.Concurrency = target.RemoteRate, target.RemoteConcurrency
		return t
	}
	var together []evidence.Label
	for _, burst := range evidence.ParallelTokenRequests() {
		together = append(together, burst...)
	}

	It("are tried without a change of the mean rate", func() {
		n, p := newNode(), &paced{now: begun}
		log := certifyPaced(remote(n), p)
		for _, l := range slices.Concat(together, []evidence.Label{"token.alone", "info.caller-own", "info.caller-own-1", "op/listFundings.roleless-together", "op/listFundings.parallel-token-3",
			"op/listFundings.other-way", "op/listFundings.roleless-parallel-token-3"}) {
			x, sent := log.Get(l)
			Expect(sent).To(BeTrue(), string(l))
			Expect(x.Answered()).To(BeTrue(), string(l))
		}
		for _, burst := range evidence.ParallelTokenRequests() {
			first, _ := log.Get(burst[0])
			for _, l := range burst {
				x, _ := log.Get(l)
				Expect(x.Started).To(Equal(first.Started), string(l))
			}
		}
		Expect(p.clock().Sub(begun).Seconds()).To(BeNumerically(">=", float64(log.Ended.Requests-1)/target.RemoteRate))
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
		Expect(because(log, "op/listFundings.lone-token")).To(ContainSubstring("no token that was requested at the same time as others was refused"))
	})

	It("send the calls of the other client at the same time as the calls that are judged", func() {
		n := newNode()
		log := certifyPaced(remote(n), &paced{now: begun})
		unlabelled := map[string]int{}
		for _, q := range n.log() {
			unlabelled[strings.Split(q.uri, "?")[0]]++
		}
		for _, x := range log.Exchanges {
			if u, err := url.Parse(x.Request.URL); err == nil {
				unlabelled[u.EscapedPath()] -= x.Attempts
			}
		}
		Expect(unlabelled["/ris/info/v1/oauth/info/"]).To(Equal(1+3*3), "one before the first burst, and three in each of three")
		Expect(unlabelled["/ris/funding/v3/fundings"]).To(Equal(3))
	})

	It("find a node that keeps the client of a token request in a variable that all requests share", func() {
		var p *paced
		var mu sync.Mutex
		shared, moments := map[time.Time]string{}, map[string]time.Time{} // the client of the latest request by moment; the moment by token
		good := ""                                                        // the latest token of the first client
		n := newNode(func(n *node) {
			n.before = func(n *node, w http.ResponseWriter, q *http.Request) bool {
				mu.Lock()
				defer mu.Unlock()
				token, at := strings.TrimPrefix(q.Header.Get("Authorization"), "Bearer "), p.clock()
				switch client, inBurst := shared[moments[token]]; {
				case q.URL.Path == "/oauth/token":
					body, _ := io.ReadAll(q.Body)
					answer := httptest.NewRecorder()
					n.token(answer, q, string(body))
					var issued struct {
						Token string `json:"access_token"`
					}
					if json.Unmarshal(answer.Body.Bytes(), &issued) == nil && issued.Token != "" {
						client := parseForm(string(body))["client_id"]
						shared[at], moments[issued.Token] = client, at
						if client != secondID {
							good = issued.Token
						}
					}
					maps.Copy(w.Header(), answer.Header())
					w.WriteHeader(answer.Code)
					_, _ = w.Write(answer.Body.Bytes())
					return true
				case q.URL.Path == "/ris/funding/v3/fundings" && client == secondID:
					w.WriteHeader(http.StatusForbidden)
					return true
				case q.URL.Path == "/ris/funding/v3/fundings" && inBurst:
					q.Header.Set("Authorization", "Bearer "+good)
				}
				return false
			}
		})
		const list evidence.Resource = "op/listFundings"
		var log *evidence.Log
		confused, refused := 0, false
		for tries := 5; confused < 2 && tries > 0; tries-- { // on a busy machine the requests of a burst may reach the node at different moments of its clock
			p = &paced{now: begun}
			log = certifyPaced(remote(n), p)
			confused, refused = 0, false
			for _, n := range []int{1, 2, 3} {
				if x, _ := log.Get(list.With(evidence.ParallelTokenCase(n))); x.Status() == http.StatusForbidden {
					confused, refused = confused+1, true
				}
				if x, _ := log.Get(list.With("roleless-" + evidence.ParallelTokenCase(n))); x.Status() == http.StatusOK {
					confused++
				}
			}
		}
		Expect(confused).To(BeNumerically(">=", 2), "one token or two of each burst have the role of the other client")
		lone, _ := log.Get("op/listFundings.lone-token")
		Expect(lone.Status() == http.StatusOK).To(Equal(refused), "the control of a refusal")
	})

	DescribeTable("are left out",
		func(change func(n *node, t *target.Target)) {
			n := newNode()
			t := remote(n)
			change(n, &t)
			log := certifyPaced(t, &paced{now: begun})
			for _, l := range slices.Concat(together, []evidence.Label{"info.caller-own-1"}) {
				_, sent := log.Get(l)
				Expect(sent).To(BeFalse(), string(l))
			}
			Expect(because(log, together[0])).To(ContainSubstring("no requests at the same time"))
			Expect(because(log, together[1])).To(ContainSubstring("only, and that was not sent"))
			Expect(because(log, "op/listFundings.parallel-token-1")).To(ContainSubstring("no token that was requested at the same time"))
		},
		Entry("if the run sends fewer than two requests a second", func(_ *node, t *target.Target) { t.Politeness.Rate = 1.9 }),
		Entry("if the operator asks for one request at a time", func(_ *node, t *target.Target) { t.Politeness.Concurrency = 1 }),
		Entry("after the node refused a request for load", func(n *node, _ *target.Target) {
			refused := false
			n.before = func(n *node, w http.ResponseWriter, q *http.Request) bool {
				n.mu.Lock()
				defer n.mu.Unlock()
				if refused || q.URL.Path != "/ris/info/v1/oauth/info/" {
					return false
				}
				refused = true
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusTooManyRequests)
				return true
			}
		}),
	)
})
