package recorder_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
)

// hang never answers.
func hang(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() }

// dripping sends the beginning of a body, and nothing after it.
func dripping(w http.ResponseWriter, q *http.Request) {
	drip(w)
	<-q.Context().Done()
}

// node serves each path by its handler, and remembers the requests. A path without a handler hangs.
type node struct {
	mu       sync.Mutex
	requests []*http.Request
	paths    map[string]http.HandlerFunc
}

func (n *node) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	n.mu.Lock()
	n.requests = append(n.requests, q)
	h := n.paths[q.URL.Path]
	n.mu.Unlock()
	if h == nil {
		h = hang
	}
	h(w, q)
}

// seen lists the paths of the requests so far.
func (n *node) seen() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var out []string
	for _, q := range n.requests {
		out = append(out, q.URL.Path)
	}
	return out
}

var _ = Describe("A server that stops answering", func() {
	const short = 50 * time.Millisecond

	DescribeTable("gets no more requests after two timeouts in a row and a failed recheck",
		func(h http.HandlerFunc) {
			r := newFixture(timeout(short))
			url := serve(h).URL
			a := r.send(recorder.Request{Label: "a.ok", URL: url + "/a"})
			Expect(a.Failure().Kind).To(Equal(evidence.FailureTimeout))
			Expect(r.recorder.Sent()).To(Equal(3), "twice, and the recheck")
			b := r.send(recorder.Request{Label: "b.ok", URL: url + "/b"})
			Expect(b.Failure().Message).To(HavePrefix("not sent: "))
			Expect(r.recorder.Sent()).To(Equal(3))
			Expect(r.evidence().NotSent).To(Equal([]evidence.NotSent{{Label: "b.ok", Kind: evidence.Stopped, Because: url +
				" stopped answering: 2 requests in a row had no complete answer within their timeout, and a recheck had none within 50ms"}}))
		},
		Entry("without an answer", http.HandlerFunc(hang)),
		Entry("in the middle of a body", http.HandlerFunc(dripping)),
	)

	It("stops all concurrent requests at once, without repeating them", func() {
		r := newFixture(timeout(short))
		url := serve(hang).URL
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				r.recorder.Send(context.Background(), recorder.Request{Label: evidence.Label(fmt.Sprintf("op-%d.ok", i)), URL: url})
			})
		}
		all.Wait()
		Expect(r.recorder.Sent()).To(BeNumerically("<=", 20), "8 lanes, perhaps a repeat of each before the recheck begins, and the recheck")
		Expect(len(r.evidence().NotSent)).To(BeNumerically(">=", 24))
	})

	It("still gets requests at its other addresses", func() {
		r := newFixture(timeout(short))
		r.send(recorder.Request{Label: "a.ok", URL: serve(hang).URL})
		Expect(r.send(recorder.Request{Label: "b.ok", URL: serve(text("good")).URL}).OK()).To(BeTrue())
	})

	It("gets requests again when the recheck is answered: one path may hang while others answer", func() {
		n := &node{paths: map[string]http.HandlerFunc{"/fine": text("good"), "/refused": status(401)}}
		r, url := newFixture(timeout(short)), serve(n.ServeHTTP).URL
		r.send(recorder.Request{Label: "refused.ok", URL: url + "/refused"})
		r.send(recorder.Request{Label: "fine.ok", URL: url + "/fine", Header: []evidence.Field{{Name: "Authorization", Value: "Bearer x"}}})
		for i := range 3 {
			r.send(recorder.Request{Label: evidence.Label(fmt.Sprintf("hanging-%d.ok", i)), URL: url + "/hanging"})
		}
		Expect(n.seen()).To(Equal([]string{"/refused", "/fine", "/hanging", "/hanging", "/fine", "/hanging", "/hanging", "/fine", "/hanging", "/hanging", "/fine"}))
		Expect(n.requests[4].Header).NotTo(HaveKey("Authorization"), "a recheck holds no credential")
		Expect(r.evidence().NotSent).To(BeEmpty())
	})

	// gateway refuses anonymous calls and bad tokens at once, and lets those with the good token hang.
	gateway := func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("Authorization") == "Bearer good" {
			hang(w, q)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
	}
	call := func(label, url, token string) recorder.Request {
		return recorder.Request{Label: evidence.Label(label), URL: url, Header: []evidence.Field{{Name: "Authorization", Value: "Bearer " + token}}, Credential: "access_token", NoRetry: true}
	}

	It("gets no more requests with a credential if only those hang, and still gets anonymous ones", func() {
		server := serve(gateway)
		r := newFixture(timeout(short), func(o *recorder.Options) { o.AllowedOrigins = []string{server.URL} })
		r.send(call("a.ok", server.URL+"/a", "good"))
		r.send(recorder.Request{Label: "a.no-token", URL: server.URL + "/a"})
		r.send(call("a.bearer-lower-case", server.URL+"/a", "bad"))
		r.send(call("b.ok", server.URL+"/b", "good"))
		Expect(r.recorder.Sent()).To(Equal(5), "and the recheck with the token")
		r.send(call("c.ok", server.URL+"/c", "good"))
		Expect(r.send(recorder.Request{Label: "c.no-token", URL: server.URL + "/c"}).Status).To(Equal(401))
		const cause = " stopped answering requests with credentials: 2 requests in a row had no complete answer within their timeout, and a recheck had none within 50ms"
		Expect(r.evidence().NotSent).To(Equal([]evidence.NotSent{{Label: "c.ok", Kind: evidence.Stopped, Because: server.URL + cause}}))
		Expect(r.recorder.Outage(server.URL + "/d")).To(Equal(server.URL + cause))
	})

	It("gets requests with a credential again when one of them is answered: one path may hang", func() {
		server := serve(func(w http.ResponseWriter, q *http.Request) {
			if q.URL.Path != "/fine" {
				gateway(w, q)
			}
		})
		r := newFixture(timeout(short), func(o *recorder.Options) { o.AllowedOrigins = []string{server.URL} })
		r.send(call("fine.ok", server.URL+"/fine", "good"))
		for i := range 3 {
			r.send(recorder.Request{Label: evidence.Label(fmt.Sprintf("hanging-%d.no-token", i)), URL: server.URL + "/hanging"})
			r.send(call(fmt.Sprintf("hanging-%d.ok", i), server.URL+"/hanging", "good"))
		}
		Expect(r.evidence().NotSent).To(BeEmpty())
		Expect(r.recorder.Sent()).To(Equal(1 + 6 + 1))
	})

	It("is not rechecked while other requests are answered", func() {
		n := &node{paths: map[string]http.HandlerFunc{"/fine": text("good")}}
		r, url := newFixture(timeout(short)), serve(n.ServeHTTP).URL
		for i := range 3 {
			r.send(recorder.Request{Label: evidence.Label(fmt.Sprintf("hanging-%d.ok", i)), URL: url + "/hanging", NoRetry: true})
			r.send(recorder.Request{Label: evidence.Label(fmt.Sprintf("fine-%d.ok", i)), URL: url + "/fine"})
		}
		Expect(r.recorder.Sent()).To(Equal(6))
	})

	It("still gets requests if another one is answered during a recheck that fails", func() {
		released := make(chan struct{})
		n := &node{paths: map[string]http.HandlerFunc{"/late": func(w http.ResponseWriter, q *http.Request) { <-released }}}
		r, url := newFixture(timeout(400*time.Millisecond)), serve(n.ServeHTTP).URL
		var late sync.WaitGroup
		late.Go(func() {
			r.recorder.Send(context.Background(), recorder.Request{Label: "late.ok", URL: url + "/late"})
		})
		Eventually(n.seen).Should(ContainElement("/late"))
		time.AfterFunc(200*time.Millisecond, func() { close(released) })
		for _, l := range []evidence.Label{"a.ok", "b.ok"} {
			r.send(recorder.Request{Label: l, URL: url + "/hanging", NoRetry: true, Timeout: 20 * time.Millisecond})
		}
		late.Wait()
		Expect(r.send(recorder.Request{Label: "c.ok", URL: url + "/late"}).OK()).To(BeTrue())
	})

	It("is not rechecked for slow answers that come in time", func() {
		r := newFixture(timeout(2 * time.Second))
		url := serve(func(w http.ResponseWriter, _ *http.Request) { time.Sleep(300 * time.Millisecond) }).URL
		for _, l := range []evidence.Label{"a.ok", "b.ok", "c.ok"} {
			Expect(r.send(recorder.Request{Label: l, URL: url}).OK()).To(BeTrue())
		}
		Expect(r.recorder.Sent()).To(Equal(3))
	})

	It("does not put a secret into the URL of a recheck", func() {
		n := &node{paths: map[string]http.HandlerFunc{"/fine": text("good")}}
		r := newFixture(timeout(short))
		server := serve(n.ServeHTTP)
		r.Options.AllowedOrigins = []string{server.URL}
		var err error
		r.recorder, err = recorder.New(r.Options)
		Expect(err).NotTo(HaveOccurred())
		r.send(recorder.Request{Label: "a.ok", URL: server.URL + "/fine?token=" + accessToken, Conceal: map[string]string{"access_token": accessToken}})
		r.send(recorder.Request{Label: "b.ok", URL: server.URL + "/hanging?token=" + accessToken})
		Expect(n.seen()).To(HaveLen(4))
		Expect(n.requests[3].URL.RequestURI()).To(Equal("/"))
	})

	It("is not judged by requests with Once, which are sent in any case", func() {
		r := newFixture(timeout(short))
		url := serve(hang).URL
		for range 4 {
			r.recorder.Send(context.Background(), recorder.Request{URL: url, Once: true})
		}
		Expect(r.recorder.Sent()).To(Equal(4))
		r.send(recorder.Request{Label: "a.ok", URL: url})
		r.send(recorder.Request{Label: "b.ok", URL: url, Once: true})
		Expect(r.recorder.Sent()).To(Equal(4 + 3 + 1))
	})

	It("is not given up when the budget has no room for a recheck", func() {
		r := newFixture(timeout(short), func(o *recorder.Options) { o.Budget = 2 })
		url := serve(hang).URL
		r.send(recorder.Request{Label: "a.ok", URL: url})
		r.send(recorder.Request{Label: "b.ok", URL: url})
		Expect(r.evidence().NotSent[0].Because).To(Equal("the request budget is used up"))
	})

	It("gets no more handshakes either", func() {
		listener, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections and says nothing
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(listener.Close)
		r := newFixture(timeout(short))
		origin := "https://" + listener.Addr().String()
		for _, label := range []evidence.Label{"tls/token.modern", "tls/info.modern"} {
			shake := modern(origin)
			shake.Label = label
			r.recorder.Handshake(context.Background(), shake)
		}
		Expect(r.recorder.Sent()).To(Equal(3), "two attempts of the first, and the recheck")
		Expect(r.evidence().NotSent).To(ConsistOf(And(HaveField("Label", evidence.Label("tls/info.modern")), HaveField("Kind", evidence.Stopped),
			HaveField("Because", Satisfy(func(s string) bool { return strings.HasPrefix(s, origin+" stopped answering") })))))
	})
})
