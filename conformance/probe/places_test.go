package probe_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/target"
)

var _ = Describe("A run that starts from a registry", func() {
	registry := func(n *node, body string) *httptest.Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(strings.ReplaceAll(body, "NODE", n.URL)))
		}))
		DeferCleanup(s.Close)
		return s
	}
	const entry = `{"member":[{"id":"XA","oauth2":" NODE/oauth/token ","info":"NODE/ris/info/v1/oauth/info/"},{"id":"BAD","oauth2":"http://sso.example/token","info":"NODE/i"},{"id":"HALF","oauth2":"NODE/t"}]}`
	from := func(url, id string) target.Target {
		return target.Target{Registry: url, NodeID: id, Profile: "funding",
			Credentials: target.Credentials{ClientID: clientID, ClientSecret: target.NewSecret(clientSecret)}}
	}

	It("takes the URLs of the entry and derives the others", func() {
		n := newNode()
		log := certify(from(registry(n, entry).URL, "XA"))
		Expect(log.Run.TokenURL).To(Equal(n.URL + "/oauth/token"))
		Expect(log.Run.SpecURL).To(Equal(n.URL + "/ris/funding/v3/api-docs"))
		Expect(log.Run.Loopback).To(BeTrue())
		Expect(string(log.Registry)).To(ContainSubstring(`"id":"XA"`))
		Expect(log.Roles.List).To(Equal(evidence.Resource("op/listFundings")))
		Expect(log.Ended.Requests).To(Equal(len(n.log()) + 1))
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
	})

	It("reads a registry from a file", func() {
		n := newNode()
		t := from("", "XA")
		t.RegistryDocument = []byte(strings.ReplaceAll(entry, "NODE", n.URL))
		log := certify(t)
		Expect(log.Roles.ProbeTarget).To(Equal(evidence.Info))
		Expect(log.Planned).NotTo(ContainElement(evidence.Label("registry.ok")))
	})

	It("rejects an unknown id as a mistake of the operator, and sends no request to a node", func() {
		n := newNode()
		o, _ := options(from(registry(n, entry).URL, "XB"))
		var problem *target.Problem
		Expect(errors.As(probe.Run(context.Background(), o), &problem)).To(BeTrue())
		Expect(problem.Error()).To(And(HavePrefix(`--node: "XB" is not in the registry`), ContainSubstring("did you mean --node XA")))
		Expect(labelsWithoutEnd(o.Journal.Log())).To(BeEmpty())
		Expect(n.log()).To(BeEmpty())
	})

	DescribeTable("says why there is no node to test",
		func(id, body, says string) {
			n := newNode()
			log := certify(from(registry(n, body).URL, id))
			Expect(log.Ended.Complete).To(BeFalse())
			Expect(log.Ended.Cause).To(ContainSubstring(says))
			Expect(labelsWithoutEnd(log)).To(BeEmpty())
			Expect(n.log()).To(BeEmpty())
		},
		Entry("no registry", "XA", "<html>", "expected a registry document"),
		Entry("nothing", "XA", "", "is empty"),
		Entry("a URL without TLS on another machine", "BAD", entry, "not encrypted"),
		Entry("half an entry", "HALF", entry, "expected the URLs"),
	)
})

var _ = Describe("The base URL of operations", func() {
	It("is found by trying candidates when the document names a server on another origin", func() {
		n := newNode(func(n *node) {
			n.document = strings.Replace((&node{}).spec(), `"url":"/ris/funding/v3"`, `"url":"https://stranger.example/elsewhere"`, 1)
		})
		log := certify(targetOf(n))
		Expect(log.Roles.OperationBase).To(Equal(n.URL + "/ris/funding/v3"))
		Expect(log.Roles.BaseTried).To(Equal([]string{
			n.URL + "/ris/elsewhere (base URL with the path of servers[0]): 404",
			n.URL + "/ris (base URL): 404",
			n.URL + "/ris/funding/v3 (parent of the specification URL): 200",
		}))
		x, _ := log.Get("op/listFundings.ok")
		Expect(x.Status()).To(Equal(200))
	})

	It("is not searched further on an origin that does not answer", func() {
		n := newNode(func(n *node) {
			n.before = func(_ *node, _ http.ResponseWriter, q *http.Request) bool {
				if strings.Contains(q.URL.Path, "/fundings") || strings.Contains(q.URL.Path, "/elsewhere") {
					panic(http.ErrAbortHandler)
				}
				return false
			}
			n.document = strings.Replace((&node{}).spec(), `"url":"/ris/funding/v3"`, `"url":"/elsewhere"`, 1)
		})
		log := certify(targetOf(n))
		x, _ := log.Get("base/1.ok")
		Expect(x.Failure.Kind).To(Equal(evidence.FailureReset))
		why, _ := log.Skipped("base/2.ok")
		Expect(why.Because).To(ContainSubstring("gave no answer"))
		Expect(log.Roles.BaseTried).To(HaveExactElements(ContainSubstring("no answer")))
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
	})

	It("is the candidate that answers 403 and not 404 when every call is refused", func() {
		n := newNode(func(n *node) {
			n.document = strings.Replace((&node{}).spec(), `"url":"/ris/funding/v3"`, `"url":"/elsewhere"`, 1)
			n.before = func(_ *node, w http.ResponseWriter, q *http.Request) bool {
				closed := strings.HasPrefix(q.URL.Path, "/ris/funding/v3/fundings")
				if closed {
					w.WriteHeader(http.StatusForbidden)
				}
				return closed
			}
		})
		log := certify(targetOf(n))
		Expect(log.Roles.OperationBase).To(Equal(n.URL + "/ris/funding/v3"))
		why, _ := log.Skipped("op/getFunding.ok")
		Expect(why.Because).To(ContainSubstring("was answered 403, so no id is known"))
		Expect(log.Roles.Operations).To(Equal([]evidence.Resource{"op/listFundings"}))
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
	})
})

var _ = Describe("The servers of a document", func() {
	described := func(change ...string) func(n *node) {
		return func(n *node) { n.document = strings.NewReplacer(change...).Replace((&node{}).spec()) }
	}
	const paths, server = `"paths":{`, `"servers":[{"url":"/ris/funding/v3"}],`

	It("are those of an operation, else those of its path", func() {
		log := certify(targetOf(newNode(described(
			server, `"servers":[{"url":"https://stranger.example/elsewhere"}],`,
			`"/fundings":{"get":{`, `"/fundings":{"servers":[{"url":"/nowhere"}],"get":{"servers":[{"url":"/ris/{api}/v3","variables":{"api":{"default":"funding"}}}],`,
			`"/fundings/{id}":{`, `"/fundings/{id}":{"servers":[{"url":"."}],`,
			paths, paths+`"/oauth/info/":{"servers":[{"url":"../../info/v1"}],"get":{"operationId":"info","responses":{"200":{"description":"ok"}}}},`))))
		for _, label := range []evidence.Label{"op/listFundings.ok", "op/getFunding.ok", "op/info.ok"} {
			x, _ := log.Get(label)
			Expect(x.Status()).To(Equal(200), string(label))
		}
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
	})

	It("are the root of the host if the document names none", func() {
		n := newNode(described(server, "", `"/fundings`, `"/ris/funding/v3/fundings`, paths, paths+`"/health":{"get":{"operationId":"health","security":[],"responses":{"200":{"description":"ok"}}}},`))
		n.before = func(_ *node, w http.ResponseWriter, q *http.Request) bool {
			if q.URL.Path == "/health" {
				_, _ = w.Write([]byte("up"))
			}
			return q.URL.Path == "/health"
		}
		log := certify(targetOf(n))
		for _, label := range []evidence.Label{"op/listFundings.ok", "op/getFunding.ok", "op/health.ok"} {
			x, _ := log.Get(label)
			Expect(x.Status()).To(Equal(200), string(label))
		}
	})

	It("are not at a URL where a web page answers every path", func() {
		n := newNode(described(server, ""))
		n.before = func(_ *node, w http.ResponseWriter, q *http.Request) bool {
			elsewhere := !strings.HasPrefix(q.URL.Path, "/ris/") && q.URL.Path != "/oauth/token"
			if elsewhere {
				w.Header().Set("Content-Type", "text/html")
				_, _ = w.Write([]byte("<html>"))
			}
			return elsewhere
		}
		log := certify(targetOf(n))
		Expect(log.Roles.OperationBase).To(Equal(n.URL + "/ris/funding/v3"))
	})

	It("are not called on an origin that the operator did not name, and the reason says how to allow it", func() {
		stranger := newNode()
		n := newNode(described(paths, paths+`"/files":{"servers":[{"url":"`+strings.Replace(stranger.URL, "127.0.0.1", "files.localhost", 1)+`/ris"},{"url":"https://files.example/ris"}],
			"get":{"operationId":"files","responses":{"200":{"description":"ok"}}}},"/reports/{year}":{"get":{"servers":[{"url":"https://reports.example"}],"operationId":"report","responses":{"200":{"description":"ok"}}}},`))
		t := targetOf(n)
		log := certify(t)
		for _, label := range []evidence.Label{"op/files.ok", "op/files.no-token", "op/report.ok"} {
			why, skipped := log.Skipped(label)
			Expect(skipped).To(BeTrue(), string(label))
			Expect(why.Because).To(And(ContainSubstring("is on another origin"), ContainSubstring("--allow-origin "), ContainSubstring("--base-url")), string(label))
		}
		Expect(stranger.log()).To(BeEmpty())
		x, _ := log.Get("op/listFundings.ok")
		Expect(x.Status()).To(Equal(200))
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
	})

	It("are not called on another origin when no guessed URL answers", func() {
		n := newNode(described(server, `"servers":[{"url":"https://api.example/v3"}],`, `"/fundings`, `"/calls/fundings`))
		log := certify(targetOf(n))
		why, _ := log.Skipped("op/listFundings.ok")
		Expect(why.Because).To(ContainSubstring("its server https://api.example is on another origin, which is not called: allow it with --allow-origin https://api.example, or"))
		Expect(log.Roles.Operations).To(BeEmpty())
		Expect(log.Roles.BaseTried).To(HaveLen(3))
	})
})

var _ = Describe("An info endpoint behind a redirect for the slash", func() {
	It("is called at the URL to which the good call was redirected", func() {
		n := newNode(func(n *node) {
			n.before = func(_ *node, w http.ResponseWriter, q *http.Request) bool {
				bare := strings.HasSuffix(q.URL.Path, "/oauth/info")
				if bare {
					http.Redirect(w, q, q.URL.Path+"/", http.StatusPermanentRedirect)
				}
				return bare
			}
		})
		t := targetOf(n)
		t.InfoURL = strings.TrimSuffix(t.InfoURL, "/")
		log := certify(t)
		Expect(log.Roles.ProbeTarget).To(Equal(evidence.Info))
		ok, _ := log.Get("info.ok")
		Expect(ok.Redirects).To(HaveLen(1))
		raw, _ := log.Get("info.blank-bearer")
		Expect(raw.Status()).To(Equal(401))
		cached, _ := log.Get("info.cached-no-token")
		Expect(cached.Redirects).To(BeEmpty())
	})
})

var _ = Describe("A document with more operations than the budget has room for", func() {
	It("is used as far as the budget allows, and the reason is recorded for the other operations", func() {
		n := newNode(func(n *node) {
			var others strings.Builder
			for i := range 700 {
				fmt.Fprintf(&others, `"/other/%d":{"get":{"operationId":"other%d","responses":{"200":{"description":"ok"}}}},`, i, i)
			}
			n.document = strings.Replace((&node{}).spec(), `"paths":{`, `"paths":{`+others.String(), 1)
		})
		log := certify(targetOf(n))
		Expect(len(n.log())).To(BeNumerically("<=", log.Run.Budget))
		why, _ := log.Skipped("op/other699.ok")
		Expect(why.Kind).To(Equal(evidence.OverBudget))
		Expect(labelsWithoutEnd(log)).To(BeEmpty())
		Expect(log.Roles.Operations).To(ContainElement(evidence.Resource("op/getFunding")))
	})
})
