package fault_test

import (
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// habitAnswers yields a node's answers to the exercise and to requests that only habits answer differently, and whether answers to HEAD have an ETag.
func habitAnswers(n node) iter.Seq[string] {
	return func(yield func(string) bool) {
		client := n.Credentials()[0]
		form := postToken("grant_type=client_credentials&client_id=" + client.ClientID + "&client_secret=" + client.Secret)
		body := func() string {
			w := httptest.NewRecorder()
			n.ServeHTTP(w, request(form))
			return w.Body.String()
		}
		first, second := token(body()), token(body())
		keys := strings.Count(n.answer(get("/realms/ris/protocol/openid-connect/certs")), `"kid"`)
		if !yield(fmt.Sprintln("the same token again:", first == second, "keys:", keys)) {
			return
		}
		for answer := range exerciseAnswers(n) {
			if !yield(answer) {
				return
			}
		}
		for _, a := range habitRequests(first) {
			w := httptest.NewRecorder()
			n.ServeHTTP(w, request(a))
			if !yield(maskTokens(n.answer(a))) || !yield(fmt.Sprintln(a.method == http.MethodHead && w.Result().Header.Get("ETag") != "")) {
				return
			}
		}
	}
}

// habitRequests lists the requests that only habits answer differently.
func habitRequests(token string) []probe {
	good := func(p probe) probe { return p.withAuth("Bearer " + token) }
	return []probe{
		get(info).with("Accept-Encoding", "gzip"), get(list + "/%00"), get(list + "?a=" + strings.Repeat("a", 3000)), get("/nowhere"),
		get("/.well-known/openid-configuration"), {method: http.MethodOptions, target: info},
		{method: http.MethodOptions, target: list}, get(strings.Replace(info, "oauth/", "oauth//", 1)), get(list + "/unknown"), get(list + "?page[size]=x"),
		good(get(list + "?page[size]=9")), good(get(list + "?page[size]=x")), good(get(list + "?page[page]=1000")), good(get(list + "?unknown=1")), good(head(list)),
		get(strings.ToUpper(list)), get(list + "%20"), get(list + ";a=b"), get(list).with("X-Forwarded-Host", "other.example"), get(list).with("Accept", "text/csv"),
		get(list).with("Expect", "100-continue"), get("/nowhere").with("X-Original-URL", list),
	}
}

// request returns the HTTP request of a probe.
func request(p probe) *http.Request {
	r := httptest.NewRequest(p.method, p.target, strings.NewReader(p.body))
	for _, h := range p.header {
		r.Header.Set(h[0], h[1])
	}
	return r
}

var _ = Describe("The habit cold-start", func() {
	It("pauses for a second, once at the token endpoint and once at the list", func() {
		n := newNode("cold-start")
		client := n.Credentials()[0]
		form := postToken("grant_type=client_credentials&client_id=" + client.ClientID + "&client_secret=" + client.Secret)
		good := get(list).withAuth("Bearer " + token(n.answer(form)))
		Expect(*n.paused).To(Equal(time.Second))
		n.answer(form)
		n.answer(good)
		n.answer(good)
		Expect(*n.paused).To(Equal(2 * time.Second))
	})
})

var _ = Describe("The habit answers-after-a-second", func() {
	It("pauses for a second before every answer", func() {
		n := newNode("answers-after-a-second")
		for range 3 {
			n.answer(get(list))
		}
		n.answer(get(document))
		Expect(*n.paused).To(Equal(4 * time.Second))
	})
})
