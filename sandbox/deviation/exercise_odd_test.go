package deviation_test

import (
	"encoding/base64"
	"net/http"
	"strings"
)

// oddExercise asks in the ways that no client means, and for what deviations of hygiene and robustness answer in another way.
func oddExercise(token string) []ask {
	good := func(a ask) ask { return a.bearing("Bearer " + token) }
	broken := base64.RawURLEncoding.EncodeToString([]byte("{")) + ".e30.AA"
	elsewhere := func(a ask) ask { return a.with("Origin", "https://conformance.invalid") }
	asks := []ask{
		get(info).with("X-Forwarded-User", "admin"), get(info).with("X-Forwarded-For", "127.0.0.1"), get(info).with("X-Original-URL", "/"),
		get(list + "?page%5Bsize%5D=2"), get(info).with("X-Auth-Request-User", "admin"), get(info).with("X-Method-Override", "OPTIONS"), elsewhere(get(info)),
		get(strings.Replace(info, "info/", "%69nfo/", 1)), get(strings.TrimSuffix(info, "/") + ".json/"),
		good(get(info).with("Origin", "https://example.com.conformance.invalid")), elsewhere(good(get(info))), elsewhere(ask{method: http.MethodOptions, target: "/oauth/token"}),
		good(get(strings.Replace(info, "/v1/", "/v999/", 1))), good(get(api + "/unknown")), good(get(list).with("Accept", "application/x-conformance")),
		exchange(`{"grant_type":"client_credentials"}`).with("Content-Type", "application/json"),
		exchange("--b--").with("Content-Type", "multipart/form-data; boundary=b"), exchange("grant_type=client_credentials&client_id=x&client_secret=y&scope=%FF"),
		exchange("grant_type=urn:none&client_id=x"), good(head(info)),
	}
	for _, odd := range []string{broken, "\xe4\xf6", strings.Repeat("A", 6<<10)} {
		asks = append(asks, get(info).bearing("Bearer "+odd))
	}
	for _, id := range []string{"O'Brien", "%FF", "%7Bid%7D"} {
		asks = append(asks, good(get(list+"/"+id)))
	}
	for _, query := range []string{"a=%FF", "page%5Bsize%5D=%00", strings.Repeat("a=1&", 200)} {
		asks = append(asks, good(get(list+"?"+query)))
	}
	return asks
}
