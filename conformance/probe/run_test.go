package probe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

// begun is when every run of these tests begins.
var begun = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func targetOf(n *node) target.Target {
	return target.Target{
		TokenURL: n.URL + "/oauth/token", InfoURL: n.URL + "/ris/info/v1/oauth/info/",
		SpecURL: n.URL + "/ris/funding/v3/api-docs", BaseURL: n.URL + "/ris",
		Credentials: target.Credentials{ClientID: clientID, ClientSecret: target.NewSecret(clientSecret)},
		Second:      &target.Credentials{ClientID: secondID, ClientSecret: target.NewSecret(secondSecret)},
		Profile:     "funding",
		Politeness:  target.Politeness{Timeout: 5 * time.Second},
	}
}

// guard accepts any JSON object as it is.
func guard(body []byte) evidence.Document {
	var object map[string]any
	if err := json.Unmarshal(body, &object); err != nil {
		return evidence.Document{Refused: "expected a JSON object"}
	}
	return evidence.Document{Reduced: body}
}

// options returns valid options for a target, with the evidence written to a buffer.
func options(t target.Target) (probe.Options, *bytes.Buffer) {
	recorded := &bytes.Buffer{}
	clock := func() time.Time { return begun }
	journal, redactor := evidence.NewJournal(evidence.NewWriter(recorded, clock)), redact.New([]byte("salt"))
	seed := [32]byte{1}
	return probe.Options{
		Inputs:  probe.Inputs{Target: t, Suite: "test", Clock: clock, Random: rand.NewChaCha8(seed)},
		Journal: journal, Redactor: redactor, Guard: guard,
		Recorder: func(t target.Target, budget int) (*recorder.Recorder, error) {
			return recorder.New(recorder.Options{
				Journal: journal, Redactor: redactor, Clock: clock, Budget: budget,
				Sleep:   func(context.Context, time.Duration) error { return nil },
				Timeout: t.Politeness.Timeout, Concurrency: t.Politeness.Concurrency,
				AllowedOrigins: t.Origins(), Loopback: t.Loopback(),
			})
		},
	}, recorded
}

func certify(t target.Target, change ...func(*probe.Options)) *evidence.Log {
	GinkgoHelper()
	o, _ := options(t)
	for _, c := range change {
		c(&o)
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), time.Minute, errors.New("the test took too long"))
	defer cancel()
	Expect(probe.Run(ctx, o)).To(Succeed())
	return o.Journal.Log()
}

// labelsWithoutEnd lists the planned labels that were neither sent nor recorded as not sent.
func labelsWithoutEnd(log *evidence.Log) []evidence.Label {
	var out []evidence.Label
	for _, l := range log.Planned {
		_, sent := log.Get(l)
		if _, skipped := log.Skipped(l); !sent && !skipped {
			out = append(out, l)
		}
	}
	return out
}

var _ = Describe("A run against a good node", func() {
	var n *node
	var log *evidence.Log
	BeforeEach(func() {
		n = newNode()
		log = certify(targetOf(n))
	})

	status := func(label evidence.Label) int { x, _ := log.Get(label); return x.Status() }
	header := func(label evidence.Label, name string) string {
		x, _ := log.Get(label)
		return strings.Join(evidence.Values(x.Request.Header, name), ", ")
	}
	given := func(label evidence.Label, name string) string { x, _ := log.Get(label); return x.Given[name] }

	It("sends every planned request or records why not", func() {
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
		Expect(*log.Ended).To(Equal(evidence.Ended{Complete: true, Requests: len(n.log())}))
	})

	It("reports a budget at first and another after the document is read, and sends no more requests", func() {
		var budgets []int
		log := certify(targetOf(n), func(o *probe.Options) {
			o.Planned = func(budget int, _ target.Politeness) { budgets = append(budgets, budget) }
		})
		Expect(budgets).To(HaveLen(2))
		Expect(budgets[0]).To(Equal(probe.Budgeted(targetOf(n), 0)))
		Expect(budgets[1]).To(And(BeNumerically(">", budgets[0]), BeNumerically("<", probe.Budget(targetOf(n))), Equal(log.Run.Budget)))
		Expect(log.Ended.Requests).To(BeNumerically("<=", budgets[1]))
		Expect(log.Run.Started).To(Equal(begun))
	})

	It("finds the roles of the node's resources", func() {
		Expect(log.Roles).To(Equal(evidence.Roles{
			ProbeTarget: evidence.Info, List: "op/listFundings", Detail: "op/getFunding",
			Operations:    []evidence.Resource{"op/listFundings", "op/getFunding"},
			OperationBase: n.URL + "/ris/funding/v3",
			BaseTried:     []string{n.URL + "/ris/funding/v3 (server of the document): 200"},
		}))
	})

	It("has a good call beside each refusal", func() {
		for _, r := range []evidence.Resource{evidence.Info, "op/listFundings", "op/getFunding"} {
			Expect(status(r.With(evidence.OK))).To(Equal(200), string(r))
			Expect(status(r.With("head-ok"))).To(Equal(200), string(r))
			Expect(status(r.With("cached-ok"))).To(Equal(200), string(r))
			Expect(status(r.With("cached-no-token"))).To(Equal(401), string(r))
			Expect(status(r.With("tampered"))).To(Equal(401), string(r))
		}
	})

	It("sends odd credentials as their labels say", func() {
		Expect(header("info.garbage", "Authorization")).To(MatchRegexp(`^Bearer \[\[drawn_token`))
		Expect(header("info.empty-bearer", "Authorization")).To(Equal("Bearer"))
		Expect(header("info.blank-bearer", "Authorization")).To(Equal("Bearer "))
		Expect(header("info.token-scheme", "Authorization")).To(MatchRegexp(`^Token \[\[access_token`))
		Expect(header("info.lower-scheme", "Authorization")).To(MatchRegexp(`^bearer \[\[access_token`))
		Expect(header("info.upper-scheme", "Authorization")).To(MatchRegexp(`^BEARER \[\[access_token`))
		Expect(header("info.two-blanks", "Authorization")).To(MatchRegexp(`^Bearer  \[\[access_token`))
		Expect(header("info.tampered", "Authorization")).To(MatchRegexp(`^Bearer \[\[tampered_token`))
		Expect(header("info.no-token", "Authorization")).To(BeEmpty())
		Expect(header("info.method-override", "X-HTTP-Method-Override")).To(BeElementOf("OPTIONS", "options", "Options"))
		Expect(header("info.as-browser", "Accept")).To(HavePrefix("text/html,"))
		Expect(header("info.as-browser", "Authorization")).To(BeEmpty())
		Expect(header("op/listFundings.no-role", "Authorization")).To(MatchRegexp(`^Bearer \[\[access_token2`))
		x, _ := log.Get("info.blank-bearer")
		Expect(x.Request.Raw).To(BeTrue(), "net/http would trim the blank")
	})

	It("chooses the inputs of paging and filters from the document and the data", func() {
		Expect(given("op/listFundings.size-2", "value")).To(Equal("2"))
		Expect(given("op/listFundings.filter-seen", "parameter")).To(Equal("fundingType"))
		Expect(given("op/listFundings.filter-seen", "member")).To(Equal("type"))
		Expect(given("op/listFundings.filter-seen", "value")).To(Equal("CALL"))
		Expect(given("op/listFundings.filter-other", "value")).To(Equal("AWARD"))
		Expect(given("op/listFundings.param-funderId", "value")).To(Equal("org-1"))
		Expect(given("op/listFundings.param-runningCalls", "value")).To(Equal("true"))
		why, _ := log.Skipped("op/listFundings.param-words")
		Expect(why.Kind).To(Equal(evidence.NotApplicable))
	})

	DescribeTable("chooses inputs that work for a short list, too",
		func(items int, size, other string) {
			log := certify(targetOf(newNode(func(n *node) {
				n.items = n.items[:items]
				n.document = strings.Replace((&node{}).spec(), `["CALL","PROGRAMME","AWARD"]`, `["CALL"]`, 1)
			})))
			x, _ := log.Get("op/listFundings.size-2")
			Expect(x.Given["value"]).To(Equal(size))
			x, _ = log.Get("op/listFundings.filter-other")
			Expect(x.Given["value"]).To(HavePrefix(other))
		},
		Entry("three", 3, "2", ""), // some items are of the kind CALL, and the document names no other
		Entry("two", 2, "1", ""),
		Entry("one", 1, "2", ""),
	)

	It("takes no value for an array parameter from the enum of the array itself", func() {
		log := certify(targetOf(newNode(func(n *node) {
			n.document = strings.Replace((&node{}).spec(), `{"name":"words","in":"query","schema":{"type":"string"}}`,
				`{"name":"words","in":"query","schema":{"type":"array","enum":["live"],"items":{"type":"string"}}}`, 1)
		})))
		why, _ := log.Skipped("op/listFundings.param-words")
		Expect(why.Kind).To(Equal(evidence.NotApplicable))
	})

	It("gives a required parameter another value where it tries one, and never two", func() {
		n := newNode(func(n *node) {
			n.document = strings.NewReplacer(`{"name":"fundingType",`, `{"name":"fundingType","required":true,`,
				`{"name":"page[size]",`, `{"name":"page[size]","required":true,`).Replace((&node{}).spec())
		})
		log := certify(targetOf(n))
		repeated, _ := log.Get("op/listFundings.value-repeated")
		var tried []string
		for _, x := range n.log() {
			sentURL, err := url.ParseRequestURI(x.uri)
			Expect(err).NotTo(HaveOccurred())
			for name, values := range sentURL.Query() {
				if len(values) < 200 && !strings.HasSuffix(repeated.Request.URL, x.uri) { // some are repeated on purpose
					Expect(values).To(HaveLen(1), x.uri)
				}
				tried = append(tried, name+"="+values[0])
			}
		}
		Expect(tried).To(ContainElements("fundingType=CALL", "fundingType=PROGRAMME", "page[size]=2"))
		x, _ := log.Get("op/listFundings.filter-other")
		Expect(x.Request.URL).To(ContainSubstring("fundingType=PROGRAMME"))
	})

	It("fetches the first, a middle and the last item, and one that does not exist", func() {
		Expect([]string{
			given("op/getFunding.item-first", "id"), given("op/getFunding.item-middle", "id"), given("op/getFunding.item-last", "id"),
		}).To(Equal([]string{"f-0", "f-2", "f-4"}))
		Expect(status("op/getFunding.unknown-id")).To(Equal(404))
	})

	It("sends the same requests for the same random bytes", func() {
		again := certify(targetOf(n))
		Expect(given("op/getFunding.unknown-id", "id")).To(Equal(func() string { x, _ := again.Get("op/getFunding.unknown-id"); return x.Given["id"] }()))
	})

	It("sends fewer requests when only the authorization is certified", func() {
		t := targetOf(n)
		t.Profile, t.Second = "auth", nil
		log := certify(t)
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
		Expect(log.Document).To(BeNil())
		Expect(log.Roles).To(Equal(evidence.Roles{ProbeTarget: evidence.Info}))
		for _, l := range log.Planned {
			Expect(string(l)).NotTo(HavePrefix("op/"))
		}
	})

	It("leaves repetitions and odd credentials on operations out of a quick run", func() {
		t := targetOf(n)
		t.Effort = draw.Quick
		log := certify(t)
		Expect(log.Run.Partial).To(Equal("--effort quick"))
		Expect(log.Planned).NotTo(ContainElement(evidence.Label("token.repeat-1")))
		Expect(log.Planned).NotTo(ContainElement(evidence.Label("op/listFundings.tampered")))
		Expect(log.Planned).To(ContainElement(evidence.Label("op/listFundings.garbage")))
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
	})

	It("sends in a partial run the requests that were chosen by label or by role, and those that discovery needs", func() {
		log := certify(targetOf(n), func(o *probe.Options) {
			o.Wanted = []evidence.Label{"P.garbage", "list.size-2", "token.wrong-secret"}
		})
		for _, label := range []evidence.Label{"info.garbage", "op/listFundings.size-2", "token.wrong-secret", "info.ok", "op/getFunding.ok"} {
			_, sent := log.Get(label)
			Expect(sent).To(BeTrue(), string(label))
		}
		// A case of a resource that may have the role is sent, too. Only other cases are certainly left out.
		for _, label := range []evidence.Label{"info.tampered", "op/listFundings.tampered", "op/getFunding.item-first", "token.basic"} {
			_, sent := log.Get(label)
			Expect(sent).To(BeFalse(), string(label))
		}
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
	})

	It("reports its progress label by label", func() {
		var labels []evidence.Label
		var counts [][2]int
		certify(targetOf(n), func(o *probe.Options) {
			o.Progress = func(done, planned int, label evidence.Label) {
				labels, counts = append(labels, label), append(counts, [2]int{done, planned})
			}
		})
		Expect(labels).To(ConsistOf(log.Planned))
		Expect(counts[len(counts)-1]).To(Equal([2]int{len(log.Planned), len(log.Planned)}))
	})

	It("judges the answers of operations by the document, and keeps an answer on which the judge panics", func() {
		judged := certify(targetOf(n), func(o *probe.Options) {
			o.Annotator = func(evidence.Document) (func(evidence.Exchange, openapi.Operation) evidence.SchemaFindings, error) {
				return func(x evidence.Exchange, op openapi.Operation) evidence.SchemaFindings {
					if op.Key == "getFunding" {
						panic("a schema without end")
					}
					return evidence.SchemaFindings{Label: x.Label, Judged: true}
				}, nil
			}
		})
		f, _ := judged.FindingsOf("op/listFundings.size-2")
		Expect(f.Judged).To(BeTrue())
		var byParameter, others []evidence.Label // of the good calls in other forms, whose case begins with good-
		for _, x := range judged.Exchanges {
			_, compared := judged.FindingsOf(x.Label)
			switch name := string(x.Label.Case()); {
			case x.Label.Resource() != "op/listFundings":
			case strings.HasPrefix(name, "good-param-"):
				Expect(compared).To(BeTrue(), name)
				byParameter = append(byParameter, x.Label)
			case compared && strings.HasPrefix(name, "good-"):
				others = append(others, x.Label)
			}
		}
		Expect(byParameter).NotTo(BeEmpty())
		Expect(others).To(BeEmpty())
		f, _ = judged.FindingsOf("op/getFunding.item-last")
		Expect(f.Why).To(ContainSubstring("a schema without end"))
		x, _ := judged.Get("op/getFunding.item-last")
		Expect(x.Status()).To(Equal(200))
	})
})

var _ = DescribeTable("A record is read again at the end of a run, if its ETag is strong",
	func(tag string, again bool) {
		n := newNode(func(n *node) {
			n.before = func(_ *node, w http.ResponseWriter, q *http.Request) bool {
				if strings.HasPrefix(q.URL.Path, "/ris/funding/v3/fundings/") {
					w.Header().Set("ETag", tag)
				}
				return false
			}
		})
		log := certify(targetOf(n))
		drawn, _ := log.Get("op/getFunding.item-drawn-1")
		Expect(drawn.Status()).To(Equal(200))
		x, sent := log.Get("op/getFunding.late-1")
		Expect(sent).To(Equal(again))
		if again {
			Expect(x.Request.URL).To(Equal(drawn.Request.URL))
			for _, other := range log.Exchanges {
				Expect(x.Started.Before(other.Started) && !strings.HasPrefix(string(other.Label.Case()), "late-")).To(BeFalse(), string(other.Label))
			}
		}
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
	},
	Entry("a strong one", `"a1"`, true),
	Entry("a weak one", `W/"a1"`, false),
)

var _ = Describe("A token in use", func() {
	It("is renewed for the client without the role as well", func() {
		n := newNode(func(n *node) { n.life = 60 })
		var before atomic.Int64 // of the two calls that come before the one without the role
		log := certify(targetOf(n), func(o *probe.Options) {
			o.Target.Effort = draw.Quick // else info.caller-own fetches tokens of that client too
			o.Clock = func() time.Time { return begun.Add(time.Duration(before.Load()/2) * 40 * time.Second) }
			o.Progress = func(_, _ int, label evidence.Label) {
				if label == "token2.ok" || label == "op/listFundings.ok" {
					before.Add(1)
				}
			}
		})
		first, _ := log.Get("token2.ok")
		x, _ := log.Get("op/listFundings.no-role")
		Expect(x.Request.Header[0].Value).To(MatchRegexp(`^Bearer \[\[access_token2\.renewed:`))
		Expect(x.Request.Header[0].Value).NotTo(ContainSubstring(first.Tokens[0].Fingerprint))
	})

	DescribeTable("is renewed for the clients of another audience and of staging, because a token that has ended is refused everywhere",
		func(issued, presented evidence.Label, name string) {
			short := func(n *node) { n.life = 60 }
			n, staging := newNode(short), newNode(short, func(n *node) { n.issued = 1000 })
			var before atomic.Int64 // of the two calls that come before it is presented
			everything := withEverything(n, staging)
			if everything.Second = nil; issued == evidence.StagingEndpoint.With(evidence.OK) { // the clients of these tests share a secret, which staging may not get
				everything.Other = nil
			}
			log := certify(everything, func(o *probe.Options) {
				o.Clock = func() time.Time { return begun.Add(time.Duration(before.Load()/2) * 40 * time.Second) }
				o.Progress = func(_, _ int, label evidence.Label) {
					if label == issued || label == "op/listFundings.ok" {
						before.Add(1)
					}
				}
			})
			first, _ := log.Get(issued)
			x, sent := log.Get(presented)
			Expect(sent).To(BeTrue())
			Expect(x.Request.Header[0].Value).To(MatchRegexp(`^Bearer \[\[` + name + `\.renewed:`))
			Expect(x.Request.Header[0].Value).NotTo(ContainSubstring(first.Tokens[0].Fingerprint))
		},
		Entry(nil, evidence.StagingEndpoint.With(evidence.OK), evidence.Label("op/listFundings.staging-token"), probe.StagingAccessToken),
		Entry(nil, evidence.OtherClient.With(evidence.OK), evidence.Label("op/listFundings.other-audience"), probe.OtherAccessToken),
	)

	It("is renewed when half of its life is over, without leaving its lane", func() {
		n := newNode(func(n *node) { n.life = 60 })
		var ended atomic.Int64
		log := certify(targetOf(n), func(o *probe.Options) {
			o.Clock = func() time.Time { return begun.Add(time.Duration(ended.Load()) * time.Second) }
			o.Progress = func(done, _ int, _ evidence.Label) { ended.Store(int64(done)) }
		})
		x, _ := log.Get("info.cached-ok")
		Expect(x.Status()).To(Equal(200))
		asks, recorded := 0, 0
		for _, q := range n.log() {
			if q.uri == "/oauth/token" {
				asks++
			}
		}
		for _, x := range log.Exchanges {
			if strings.HasSuffix(x.Request.URL, "/oauth/token") {
				recorded += x.Attempts
			}
		}
		Expect(asks).To(BeNumerically(">", recorded), "a renewal is no evidence")
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
	})
})
