package hostile_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
)

// secretLeaks returns nodes that issue more or longer secrets than the suite can search for.
func secretLeaks() []attack {
	var count atomic.Int64
	issue := func(token func() string) wrapper {
		return answerAt(tokenPath, func(w http.ResponseWriter, r *http.Request) {
			answerJSON(`{"access_token":"`+token()+`","token_type":"Bearer","expires_in":300}`)(w, r)
		})
	}
	// echoed issues a token and fills every list with it.
	echoed := func(token string) wrapper {
		return func(trap string) func(http.Handler) http.Handler {
			return func(next http.Handler) http.Handler {
				lists := replaceAnswer(listPath, answerJSON(`["`+strings.Repeat(token+" ", (19<<20)/(len(token)+1))+`"]`))
				return lists(issue(func() string { return token })(trap)(next))
			}
		}
	}
	return []attack{
		{name: "a list of nothing but a short token", profile: "funding", wrap: echoed("a")},
		{name: "a list of nothing but a token", profile: "funding", wrap: echoed("abcdefgh")},
		{name: "a token of 1 MB", typical: true, wrap: issue(func() string { return strings.Repeat("a", 1<<20) }), says: []string{"larger than any header"}},
		{name: "tokens of 1 MB, all different", wrap: issue(func() string {
			return strings.Repeat("a", 1<<20) + fmt.Sprint(count.Add(1))
		}), says: []string{"larger than any header"}},
		{name: "tokens of 60 KB, all different", wrap: issue(func() string { return fmt.Sprintf("%0*d", 60<<10, count.Add(1)) })},
		{name: "a thousand tokens in each answer", wrap: issue(func() string {
			var b strings.Builder
			for range 1000 {
				fmt.Fprintf(&b, `abc","access_token":"%032d`, count.Add(1))
			}
			return b.String()
		}), says: []string{"more than 20 tokens"}},
		{name: "five hundred cookies, new in each answer", profile: "funding", wrap: changeEveryHeader(func(h http.Header) {
			for range 500 {
				h.Add("Set-Cookie", fmt.Sprintf("c=%032x; Path=/", count.Add(1)))
			}
		}), harmless: true},
	}
}
