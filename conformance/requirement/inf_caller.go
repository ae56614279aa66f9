package requirement

import (
	"bytes"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file finds what info says of the caller, for INF-01: an answer to the token of the first client must not describe another one. A node that keeps the
// caller in a global variable describes the client of the latest token or call.

// infoCalls returns labels of the info endpoint.
func infoCalls(cases ...evidence.Case) []evidence.Label {
	var out []evidence.Label
	for _, c := range cases {
		out = append(out, evidence.Info.With(c))
	}
	return out
}

// findMistakenCallers compares the first answer of info to the first client with later ones, which that client got just after calls of another client, or at
// the same time.
func findMistakenCallers(e Evidence, first evidence.Exchange) []Judgement {
	answers := []evidence.Exchange{first}
	for _, c := range evidence.OwnInfoCases() {
		if x := e.exchange(evidence.Info.With(c)); success(x) {
			answers = append(answers, x)
		}
	}
	for _, x := range answers {
		if j, found := findMistakenCaller(e, first, x); found {
			return []Judgement{j}
		}
	}
	return nil
}

// findMistakenCaller finds another client in one answer to the first client. first is the first answer to it.
func findMistakenCaller(e Evidence, first, x evidence.Exchange) (j Judgement, found bool) {
	const reason = "info describes another client than the one whose token was sent"
	const hint = "take the caller from the token of the request itself, and keep it in no variable that other requests share"
	for _, id := range slices.Sorted(maps.Values(otherClientIDs(e))) {
		if len(id) >= minClientID && id != e.Run.ClientID && success(x) && hasText(x, id) && !hasText(x, e.Run.ClientID) && !bytes.Contains(x.Response.Body, []byte(markerStart)) {
			return expect(x, "what the node knows of "+quote(e.Run.ClientID)).failed(reason, quote(id)).Hinting(hint), true
		}
	}
	own, now, theirs := texts(first), texts(x), map[string]string{}
	if other := e.exchange(evidence.Info.With("second-client")); success(other) {
		theirs = texts(other)
	}
	for _, path := range slices.Sorted(maps.Keys(own)) {
		was, is := own[path], now[path]
		if is == "" || is == was || strings.Contains(is+was, markerStart) { // a marker may stand for the id: the run also sends the id in place of a token
			continue
		}
		isClientID := was == e.Run.ClientID && len(was) >= minClientID
		if isClientID || is == theirs[path] && describesCaller(path) {
			subject := Subject{Name: clip(callInWords(x) + " " + path), Label: x.Label, Expected: quote(was) + ", as before"}
			return subject.failed(reason, quote(is)).Hinting(hint).Seen(first.Label), true
		}
	}
	return Judgement{}, false
}

// otherClientIDs returns the ids of the other clients of the run, as their token requests name them.
func otherClientIDs(e Evidence) map[evidence.Resource]string {
	out := map[evidence.Resource]string{}
	for _, r := range []evidence.Resource{evidence.SecondClient, evidence.OtherClient, evidence.SpareClient} {
		form, err := url.ParseQuery(string(e.exchange(r.With(evidence.OK)).Request.Body))
		if id := form.Get("client_id"); err == nil && id != "" {
			out[r] = id
		}
	}
	return out
}

// describesCaller reports whether the path of a member has a word for the caller.
func describesCaller(path string) bool {
	return slices.ContainsFunc(openapi.Words(path), func(word string) bool {
		return slices.Contains([]string{"client", "user", "username", "subject", "sub", "account", "affiliation", "organisation", "organization", "tenant", "role", "roles", "owner", "caller", "principal"}, word)
	})
}

// texts returns the texts of a JSON answer by their path.
func texts(x evidence.Exchange) map[string]string {
	out := map[string]string{}
	if value, err := jsonValue(x); err == nil {
		addTexts(out, "$", value)
	}
	return out
}

func addTexts(out map[string]string, path string, value any) {
	switch value := value.(type) {
	case string:
		out[path] = value
	case []any:
		for i, v := range value {
			addTexts(out, path+"["+strconv.Itoa(i)+"]", v)
		}
	case map[string]any:
		for name, v := range value {
			addTexts(out, fmt.Sprintf("%s.%s", path, name), v)
		}
	}
}
