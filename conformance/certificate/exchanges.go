package certificate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/openapi/validate"
	"github.com/rin-network/rin/conformance/probe"
)

// This file derives again what a run derived from answers and recorded beside them: the reduced document, the registry entry, the roles, and the
// differences between answers and document. An edit of one without the other is found. Answers in which a secret became a marker are
// left out, because the run saw the secret.

// fault is the first contradiction that a step found, with its place. An open fault may have an honest cause, so the step is undecided.
type fault struct {
	place, why string
	open       bool
}

func faultAt(place, format string, args ...any) *fault {
	return &fault{place: place, why: fmt.Sprintf(format, args...)}
}

// checkExchanges checks that the exchanges belong to this node, came in an order that the plan allows, and agree with what was derived from them.
func checkExchanges(log *evidence.Log, run probe.Replanned) *fault {
	if f := checkTested(log); f != nil {
		return f
	}
	if f := checkHosts(log); f != nil {
		return f
	}
	if why := run.Disorder(); why != "" {
		return faultAt("order of the exchanges", "%s", why)
	}
	if f := checkRegistry(log); f != nil {
		return f
	}
	if f := checkDocument(log); f != nil {
		return f
	}
	if f := checkRoles(log, run); f != nil {
		return f
	}
	if f := checkFindings(log, run); f != nil {
		return f
	}
	return checkDates(log)
}

func exchangePlace(l evidence.Label) string { return fmt.Sprintf("exchange %.100q", l) }

// checkTested checks that the good requests went to the URLs that the run names: report and registry entry are about those.
func checkTested(log *evidence.Log) *fault {
	for _, endpoint := range []struct {
		resource evidence.Resource
		stated   string
	}{{evidence.TokenEndpoint, log.Run.TokenURL}, {evidence.Info, log.Run.InfoURL}} {
		if x, sent := log.Get(endpoint.resource.With(evidence.OK)); sent && requestURL(x.Request.URL) != requestURL(endpoint.stated) {
			return faultAt(exchangePlace(x.Label), "it went to %.200q, and the run says that it tested %.200q", x.Request.URL, endpoint.stated)
		}
	}
	return nil
}

// requestURL returns a URL as a request has it: escaped, with a path, and without a fragment.
func requestURL(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	u.Fragment, u.RawFragment = "", ""
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}

// checkHosts checks that each request went to a host of the run: one of its URLs, or one that registry entry, info or metadata name.
func checkHosts(log *evidence.Log) *fault {
	run := log.Run
	hosts, names := map[string]bool{}, map[string]bool{}
	for _, text := range append([]string{run.TokenURL, run.InfoURL, run.SpecURL, run.BaseURL, run.StagingTokenURL, run.Registry}, run.AllowedOrigins...) {
		if u, err := url.Parse(text); err == nil && u.Host != "" {
			hosts[strings.ToLower(u.Host)], names[strings.ToLower(u.Hostname())] = true, true
		}
	}
	var named bytes.Buffer
	named.Write(log.Registry)
	for _, x := range log.Exchanges {
		if group, _, _ := strings.Cut(string(x.Label.Resource()), "/"); x.Response != nil && (x.Label.Resource() == evidence.Info || group == "metadata") {
			named.Write(x.Response.Body)
		}
	}
	isNamed := func(host string) bool {
		return bytes.Contains(named.Bytes(), []byte(host)) || bytes.Contains(named.Bytes(), []byte(strings.ReplaceAll(host, "/", `\/`)))
	}
	for _, x := range log.Exchanges {
		u, err := url.Parse(x.Request.URL)
		if err != nil || strings.Contains(x.Request.URL, redact.MarkerStart) {
			continue // a raw request may have any target
		}
		host := strings.ToLower(u.Host)
		cleartext := u.Scheme == "http" && names[strings.ToLower(u.Hostname())] && strings.HasPrefix(string(x.Label), "cleartext/")
		if !hosts[host] && !cleartext && !isNamed(host) {
			return faultAt(exchangePlace(x.Label), "it went to %.100q, which is not a host of this node", u.Host)
		}
	}
	for _, h := range log.Handshakes {
		if !names[strings.ToLower(h.ServerName)] && !isNamed(h.ServerName) {
			return faultAt(fmt.Sprintf("handshake %.100q", h.Label), "it was made with %.100q, which is not a host of this node", h.ServerName)
		}
	}
	return nil
}

// maxClockError is how far a node's clock may be from that of the machine that tested it. A greater distance is either a clock that is wrong, or
// evidence that was dated later or earlier.
const maxClockError = time.Hour

// checkDates compares the Date of each answer with the time at which it was recorded.
func checkDates(log *evidence.Log) *fault {
	for _, x := range log.Exchanges {
		if x.Response == nil {
			continue
		}
		at, form := evidence.HTTPDate(strings.Join(evidence.Values(x.Response.Header, "Date"), ", "))
		if form == evidence.NoDate || x.Started.IsZero() {
			continue
		}
		if age, err := strconv.Atoi(strings.Join(evidence.Values(x.Response.Header, "Age"), "")); err == nil {
			at = at.Add(time.Duration(age) * time.Second)
		}
		if distance := at.Sub(x.Started).Abs(); distance > maxClockError {
			f := faultAt(exchangePlace(x.Label), "its Date is %s, and it was recorded at %s: the node's clock is wrong, or the evidence was dated differently", at.Format(time.RFC3339), x.Started.Format(time.RFC3339))
			f.open = true
			return f
		}
	}
	return nil
}

// isUnredacted reports whether the body of an answer was recorded as it came, without a marker in place of a secret.
func isUnredacted(x evidence.Exchange) bool {
	return x.Response != nil && !x.Response.Withheld && !redact.HasMarker(x.Response.Body)
}

// checkRegistry reads the entry again out of the registry's answer.
func checkRegistry(log *evidence.Log) *fault {
	label := evidence.Registry.With(evidence.OK)
	x, read := log.Get(label)
	if !read || len(log.Registry) == 0 || !isUnredacted(x) {
		return nil
	}
	if got := evidence.DigestOf(x.Response.Body); log.RegistryFacts == nil || log.RegistryFacts.Digest != got {
		return faultAt(exchangePlace(label), "the registry document has the digest %s, and the evidence names another", got)
	}
	entry, err := probe.FindEntry(x.Response.Body, log.Run.NodeID)
	if err != nil || !sameValue(entry.Raw, log.Registry) {
		return faultAt(exchangePlace(label), "the entry %q in this answer is not the recorded registry entry", log.Run.NodeID)
	}
	return nil
}

// checkDocument reduces the node's document again.
func checkDocument(log *evidence.Log) *fault {
	var derived *evidence.Document
	var from evidence.Label
	for _, c := range []evidence.Case{evidence.NoToken, evidence.OK} {
		x, ok := log.Get(evidence.Specification.With(c))
		if !ok || x.Status()/100 != 2 {
			continue
		}
		if !isUnredacted(x) {
			return nil
		}
		if derived == nil || derived.Refused != "" {
			again := validate.Read(x.Response.Body, openapi.DefaultLimits())
			derived, from = &again, x.Label
		}
	}
	switch {
	case log.Document == nil && (derived == nil || log.Run.Profile == "auth"):
		return nil
	case log.Document == nil:
		return faultAt(exchangePlace(from), "this answer is a document, and the evidence holds none")
	case derived == nil:
		return faultAt("document", "the evidence holds a document that no answer held")
	case !sameValue(portable(*derived), *log.Document):
		return faultAt(exchangePlace(from), "the document in this answer, reduced, is not the recorded one")
	}
	return nil
}

// portable returns the document as it is after it was written and read as JSON.
func portable(d evidence.Document) evidence.Document {
	text, err := json.Marshal(d)
	if err != nil {
		return d
	}
	var out evidence.Document
	if json.Unmarshal(text, &out) != nil {
		return d
	}
	return out
}

// sameValue compares two values by their JSON; blanks in a json.RawMessage make no difference.
func sameValue(a, b any) bool {
	left, errA := json.Marshal(a)
	right, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(left, right)
}

// checkRoles derives the roles again.
func checkRoles(log *evidence.Log, run probe.Replanned) *fault {
	if log.Ended == nil || !log.Ended.Complete {
		return nil
	}
	want, got := run.Roles(), log.Roles
	for _, r := range []struct {
		role      string
		want, got evidence.Resource
	}{{"probe target", want.ProbeTarget, got.ProbeTarget}, {"list", want.List, got.List}, {"detail", want.Detail, got.Detail}} {
		if r.want != r.got {
			return faultAt("roles", "by document and answers the %s is %q, and %q was recorded", r.role, r.want, r.got)
		}
	}
	return nil
}

// checkFindings compares answers with the document again: each answer for which the run recorded differences, or that it must have compared.
func checkFindings(log *evidence.Log, run probe.Replanned) *fault {
	if log.Document == nil || log.Document.Refused != "" || len(log.Document.Reduced) == 0 {
		if len(log.Findings) > 0 {
			return faultAt(exchangePlace(log.Findings[0].Label), "it was compared with a document, and there is none")
		}
		return nil
	}
	judge, err := validate.NewJudge(*log.Document)
	if err != nil {
		return nil // the run had no judge either
	}
	recorded := map[evidence.Label]evidence.SchemaFindings{}
	for _, f := range log.Findings {
		recorded[f.Label] = f
	}
	faults := make([]*fault, len(log.Exchanges))
	each(len(log.Exchanges), func(i int) {
		x := log.Exchanges[i]
		f, compared := recorded[x.Label]
		faults[i] = checkFinding(x, f, compared, run, judge)
	})
	for _, f := range faults {
		if f != nil {
			return f
		}
	}
	return nil
}

// checkFinding compares one answer with the document.
func checkFinding(x evidence.Exchange, recorded evidence.SchemaFindings, compared bool, run probe.Replanned, judge *validate.Judge) *fault {
	key, isOperation := strings.CutPrefix(string(x.Label.Resource()), string(evidence.OperationResource("")))
	o, known := run.Node.Operation(key)
	switch {
	case compared && (!isOperation || !known):
		return faultAt(exchangePlace(x.Label), "it was compared with an operation that the document does not have")
	case !compared && known && x.Label.Case() == evidence.OK && x.Response != nil:
		return faultAt(exchangePlace(x.Label), "it must have been compared with the document, and no result is recorded")
	case !compared || !isUnredacted(x) || hasMarker(x.Response.Header):
		return nil
	}
	if again := judge.Annotate(x, o); !sameValue(again, recorded) {
		return faultAt(exchangePlace(x.Label), "compared with the document again, it has other differences than those recorded (%d, recorded %d)", again.Total, recorded.Total)
	}
	return nil
}

func hasMarker(header []evidence.Field) bool {
	for _, f := range header {
		if redact.HasMarker([]byte(f.Value)) {
			return true
		}
	}
	return false
}

// each calls do for the numbers below n, on every processor.
func each(n int, do func(i int)) {
	var working errgroup.Group
	working.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		working.Go(func() error {
			do(i)
			return nil
		})
	}
	_ = working.Wait() // do returns no error
}
