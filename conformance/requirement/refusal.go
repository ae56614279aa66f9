package requirement

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// judgeRefusal judges an answer that should be a refusal. Any 4xx of the node passes, unless it has the data of the good call. what names the call: "the call
// without a token".
func judgeRefusal(what string, x, good evidence.Exchange) Judgement {
	if j, unclear := inconclusiveRefusal(x); unclear {
		j.Reason = what + ": " + j.Reason
		return j
	}
	want := expect(x, "401, or another 4xx without data")
	switch {
	case redirected(x):
		return want.unclear(what+" was redirected elsewhere, as browser logins do", describe(x)).Hinting(loginHint)
	case success(x) && isHTML(x) && !isHTML(good):
		return want.unclear(what+" got a web page, most likely a login", describe(x)).Hinting(loginHint)
	case success(x):
		return want.failed(what+" was answered "+fmt.Sprint(x.Status())+comparison(x, good), describe(x))
	case isRefusal(x) && sameBody(x, good):
		return want.failed(what+" was refused by its status, but the body holds the data", describe(x)+" with the body of the good call")
	case isRefusal(x):
		return Passed(x.Label)
	}
	return want.unclear(fmt.Sprintf("%s was answered %s, which is neither data nor a refusal", what, clip(x.StatusText())), describe(x)).
		Hinting("answer the call with 401, or with 403 where the token is good: a client must be able to tell a refusal from data")
}

// loginHint is the fix for a login page in place of a refusal.
const loginHint = "answer API calls with 401 instead of a login page; in Spring Security give the API's paths a filter chain with oauth2ResourceServer() and without formLogin() or oauth2Login()"

// deniedByServer recognises the plain 403 page of the web server in front of the node, as nginx auth_request and Apache Require send it. If
// the same call with a good token gets through, it is a refusal like any other, unlike the page of a firewall.
func deniedByServer(x evidence.Exchange) bool {
	return x.Status() == 403 && isHTML(x) && bodyHas(x, "<center>nginx", "<center>openresty", "You don't have permission to access")
}

// isRefusal reports whether the node, or the web server that guards it, refused the call.
func isRefusal(x evidence.Exchange) bool { return refusedByNode(x) || deniedByServer(x) }

// inconclusiveRefusal is [inconclusiveAnswer] for refusals.
func inconclusiveRefusal(x evidence.Exchange) (j Judgement, unclear bool) {
	if deniedByServer(x) {
		return Judgement{}, false
	}
	return inconclusiveAnswer(x)
}

// comparison says how the body differs from that of the good call. It is the end of the reason of a failure.
func comparison(x, good evidence.Exchange) string {
	switch {
	case !success(good):
		return ""
	case sameBody(x, good):
		return ", with the same body as the call with a good token"
	case carriesData(x, good):
		return ", with data like that of the call with a good token"
	}
	return ", with another body than the call with a good token"
}

// maxTinyBody is the length in bytes up to which equal bodies prove nothing: "{}", "[]", "true".
const maxTinyBody = 8

// sameBody reports whether an answer has the bytes of the good call, except blanks around them. It returns false if the good call failed, or if the body is
// too short to prove anything.
func sameBody(x, good evidence.Exchange) bool {
	if x.Response == nil || good.Response == nil || !success(good) {
		return false
	}
	body := bytes.TrimSpace(x.Response.Body)
	return len(body) > maxTinyBody && bytes.Equal(body, bytes.TrimSpace(good.Response.Body))
}

// carriesData reports whether an answer has the data of the good call: the same bytes, JSON with content of the same shape, or its texts in another format.
func carriesData(x, good evidence.Exchange) bool { return carriesItems(x, good, itemsOf) }

// carriesData is [carriesData] with the cache of the evidence: many answers are compared with one good call.
func (e Evidence) carriesData(x, good evidence.Exchange) bool {
	return carriesItems(x, good, e.itemsOf)
}

// carriesItems implements carriesData with a function that reads the items of a list.
func carriesItems(x, good evidence.Exchange, itemsOf func(evidence.Exchange) ([][]byte, error)) bool {
	if x.Response == nil || good.Response == nil {
		return false
	}
	body, want := bytes.TrimSpace(x.Response.Body), bytes.TrimSpace(good.Response.Body)
	if len(body) > 0 && bytes.Equal(body, want) {
		return true
	}
	// The roles or the endpoints in an info answer are not a list of records.
	if items, err := itemsOf(good); err == nil && len(items) > 0 && good.Label.Resource() != evidence.Info {
		own, errOwn := itemsOf(x)
		return len(own) > 0 || errOwn != nil && mentionsData(x, good)
	}
	value, err := jsonText(x)
	if err != nil {
		return mentionsData(x, good)
	}
	goodValue, err := jsonText(good)
	return err == nil && sameShape(value, goodValue)
}

// The bounds of [mentionsData].
const (
	maxMentions      = 200       // texts of the good call that are looked for
	maxMentioned     = 256 << 10 // bytes of a good list whose items are read for them
	minMentionLength = 8         // bytes; a shorter text may be a common word
	minMentions      = 4         // texts that are not a coincidence
)

// mentionsData reports whether an answer that is not JSON, such as CSV, XML or a page, holds texts of the good call: data in another form. The paths
// of the node are not data, because a start page may list them.
func mentionsData(x, good evidence.Exchange) bool {
	if !success(x) || !success(good) || len(x.Response.Body) == 0 {
		return false
	}
	if _, err := jsonText(x); err == nil {
		return false
	}
	found, looked, seen := 0, 0, map[string]bool{}
	for text := range strings.SplitSeq(textsOf(good), "\n") {
		isLocation := strings.Contains(text, "://") || strings.HasPrefix(text, "/")
		if len(text) < minMentionLength || isLocation || seen[text] || strings.Contains(x.Request.URL, text) {
			continue
		}
		seen[text] = true
		if looked++; looked > maxMentions {
			break
		}
		if bytes.Contains(x.Response.Body, []byte(text)) {
			found++
		}
	}
	return found >= minMentions
}

// textsOf returns the strings of a JSON answer, one on each line. Of a long answer it reads the first items only.
func textsOf(good evidence.Exchange) string {
	var b strings.Builder
	if body := good.Response.Body; len(body) > maxMentioned {
		list, _ := openapi.ReadList(body[:maxMentioned])
		for _, item := range list.Items {
			var value any
			if json.Unmarshal(item, &value) == nil {
				writeValues(&b, value)
			}
		}
	} else if value, err := jsonValue(good); err == nil {
		writeValues(&b, value)
	}
	return b.String()
}

// writeValues writes the strings of a JSON value, one on each line, without the names of members.
func writeValues(b *strings.Builder, value any) {
	switch value := value.(type) {
	case string:
		b.WriteString(strings.ReplaceAll(value, "\n", " ") + "\n")
	case []any:
		for _, v := range value {
			writeValues(b, v)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			writeValues(b, value[name])
		}
	}
}

// sameShape reports whether a JSON value has the type of the good one and, if both are objects, at least half of its members. Values change from call to
// call, names of members do not. A good array is empty here, because [carriesItems] compares arrays with items by their items.
func sameShape(value, good []byte) bool {
	kind := textType(good)
	if kind != textType(value) || kind == "null" {
		return false
	}
	if kind == "array" {
		return !isHollow(value)
	}
	own, wanted, shared := openapi.Object(value), openapi.Object(good), 0
	for name, value := range wanted {
		if mine, has := own[name]; has && (!isHollow(mine) || isHollow(value)) {
			shared++
		}
	}
	return kind != "object" || shared > 0 && 2*shared >= len(wanted)
}

// isHollow reports whether a value is null, {} or [].
func isHollow(value []byte) bool {
	switch textType(value) {
	case "null":
		return true
	case "object", "array":
		inner := bytes.TrimLeft(value, " \t\r\n")[1:]
		return len(bytes.Trim(inner, " \t\r\n")) == 1
	}
	return false
}
