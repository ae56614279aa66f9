package deviation_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
)

// indulged is all that a node answers to the exercise and to requests that only a benign deviation answers in another way, with the
// length and the validator of answers to HEAD.
func indulged(n node) string {
	client := n.Credentials()[0]
	form := exchange("grant_type=client_credentials&client_id=" + client.ClientID + "&client_secret=" + client.Secret)
	body := func() string {
		w := httptest.NewRecorder()
		n.ServeHTTP(w, request(form))
		return w.Body.String()
	}
	first, second := token(body()), token(body())
	keys := strings.Count(n.answer(get("/realms/ris/protocol/openid-connect/certs")), `"kid"`) // which are made by chance
	answers := []string{exercised(n), fmt.Sprintln("the same token again:", first == second, "keys:", keys)}
	for _, a := range []ask{
		get(info).with("Accept-Encoding", "gzip"), get(list + "/%00"), get(list + "?a=" + strings.Repeat("a", 3000)), get("/nowhere"),
		get("/.well-known/openid-configuration"), {method: http.MethodOptions, target: info},
		{method: http.MethodOptions, target: list}, get(strings.Replace(info, "oauth/", "oauth//", 1)), get(list + "/unknown"), get(list + "?page[size]=x"),
		get(list + "?page[size]=9").bearing("Bearer " + first), get(list + "?page[size]=x").bearing("Bearer " + first),
		get(list + "?page[page]=1000").bearing("Bearer " + first), get(list + "?unknown=1").bearing("Bearer " + first), head(list).bearing("Bearer " + first),
	} {
		w := httptest.NewRecorder()
		n.ServeHTTP(w, request(a))
		answers = append(answers, n.answer(a), fmt.Sprintln(a.method == http.MethodHead && w.Result().Header.Get("ETag") != ""))
	}
	return measured(strings.Join(answers, "\n"))
}

func request(a ask) *http.Request {
	r := httptest.NewRequest(a.method, a.target, strings.NewReader(a.body))
	for _, h := range a.header {
		r.Header.Set(h[0], h[1])
	}
	return r
}
