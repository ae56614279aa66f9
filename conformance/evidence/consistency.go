package evidence

import (
	"bytes"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence/redact"
)

// Inconsistency is a contradiction in an evidence file: something was changed, added or removed after it was recorded. Such evidence is not
// judged. A file without a contradiction may have been changed, too, in all places that depend on each other; only another run shows that.
type Inconsistency struct {
	What string
	// Incomplete reports that a planned label has no outcome.
	Incomplete bool
}

// Error implements error.
func (i *Inconsistency) Error() string { return i.What }

func inconsistent(format string, args ...any) error {
	return &Inconsistency{What: fmt.Sprintf(format, args...)}
}

// checkTimes checks that times run forward: each record was written after the one before it, and after the end of the exchange in it. Version 1 has no times
// of records.
func (r *reader) checkTimes(at time.Time, e entry) error {
	var started time.Time
	var took time.Duration
	switch {
	case e.Exchange != nil:
		started, took = e.Exchange.Started, e.Exchange.Duration
	case e.Handshake != nil:
		started, took = e.Handshake.Started, e.Handshake.Duration
	}
	switch {
	case took < 0:
		return inconsistent("%s took %s, which is negative", e.name(), took)
	case r.version == SchemaV1:
		return nil
	case e.Run != nil && e.Run.Started.After(at):
		return inconsistent("the run started at %s, after this was recorded at %s", clockTime(e.Run.Started), clockTime(at))
	case e.Run != nil && r.state.runs == 0 && !e.Run.Started.IsZero() && at.Sub(e.Run.Started) > maxBegin:
		return inconsistent("the run started at %s, and its first record is of %s", clockTime(e.Run.Started), clockTime(at))
	case e.Run != nil && r.state.runs > 0 && !r.describesSameRun(*e.Run):
		return inconsistent("a later run record has another start, suite, client, node or seed than the first one")
	case at.Before(r.last):
		return inconsistent("%s was recorded at %s, before the record above it, which is of %s", e.name(), clockTime(at), clockTime(r.last))
	case !started.IsZero() && started.Before(r.state.log.Run.Started):
		return inconsistent("%s started at %s, before the run, which started at %s", e.name(), clockTime(started), clockTime(r.state.log.Run.Started))
	case e.end().After(at):
		return inconsistent("%s ended at %s, after it was recorded at %s", e.name(), clockTime(e.end()), clockTime(at))
	}
	r.last = at
	return nil
}

// maxBegin is the longest time between the start of a run and its first record.
const maxBegin = time.Minute

// describesSameRun reports whether a later run record has the same values as the first in all that does not change during a run.
func (r *reader) describesSameRun(later Run) bool {
	first := r.state.log.Run
	return later.Started.Equal(first.Started) && later.Suite == first.Suite && later.ClientID == first.ClientID && later.NodeID == first.NodeID &&
		later.Seed == first.Seed && later.Effort == first.Effort
}

// checkHost compares the host of a handshake with the name that was sent to it.
func (h Handshake) checkHost() error {
	host, _, err := net.SplitHostPort(h.Address)
	if h.Address != "" && (err != nil || host != h.ServerName) {
		return inconsistent("handshake %.80q was made for %.80q, at the address %.80q", h.Label, h.ServerName, h.Address)
	}
	return nil
}

// clockTime formats a time so that it can be found in the file.
func clockTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// name names a record in an error.
func (e entry) name() string {
	switch {
	case e.Exchange != nil:
		return fmt.Sprintf("exchange %.80q", e.Exchange.Label)
	case e.Handshake != nil:
		return fmt.Sprintf("handshake %.80q", e.Handshake.Label)
	}
	return fmt.Sprintf("the %s record", e.Kind)
}

// checkLengths compares the lengths of a body: as the header announces it, as it came, without its coding, and as it was kept.
func (x Exchange) checkLengths(version string) error {
	if version != SchemaV1 && (x.Response == nil) == (x.Failure == nil) {
		return inconsistent("exchange %.80q: expected either a response or a failure", x.Label)
	}
	if x.Response == nil {
		return nil
	}
	a := *x.Response
	codings := Codings(a.Header)
	var fault string
	switch kept := int64(len(a.Body)); {
	case a.Withheld && kept > 0:
		fault = fmt.Sprintf("the body was withheld, and %d bytes of it are here", kept)
	case !a.Withheld && kept != a.Size && !bytes.Contains(a.Body, []byte(redact.MarkerStart)): // a marker is not as long as its secret
		fault = fmt.Sprintf("%d bytes of the body were read, and %d bytes are here", a.Size, kept)
	case version == SchemaV1:
		if len(codings) == 0 {
			fault = a.lengthFault(x.Request.Method, a.Size)
		}
	case len(a.Coding) == 0 && a.Wire != a.Size:
		fault = fmt.Sprintf("the body came as %d bytes without a content coding, and %d bytes of it were read", a.Wire, a.Size)
	case a.Wire == 0 && a.Size > 0:
		fault = fmt.Sprintf("the body came as 0 bytes, and %d bytes of it were read", a.Size)
	case !a.codingsFit(codings):
		fault = fmt.Sprintf("the content coding %q was removed, and the header says %q", strings.Join(a.Coding, ", "), strings.Join(codings, ", "))
	default:
		fault = a.lengthFault(x.Request.Method, a.Wire)
	}
	if fault != "" {
		return inconsistent("exchange %.80q: %s", x.Label, fault)
	}
	return nil
}

// lengthFault compares the number of bytes that came with Content-Length (RFC 9110 §8.6). It returns what is wrong, or "". Some answers announce the length
// of a body that they do not have.
func (a Response) lengthFault(method string, came int64) string {
	values := Values(a.Header, "Content-Length")
	if len(values) != 1 || method == "HEAD" || a.Status/100 == 1 || a.Status == 204 || a.Status == 304 {
		return ""
	}
	length, err := strconv.ParseInt(strings.TrimSpace(values[0]), 10, 64)
	if err != nil {
		return ""
	}
	complete := !a.Truncated && a.BodyError == ""
	if came > length || came < length && complete {
		return fmt.Sprintf("Content-Length is %d, and %d bytes came", length, came)
	}
	return ""
}

// codingsFit reports whether the codings that were removed are those of the header: all of them, or the last ones if something was wrong with the body.
func (a Response) codingsFit(codings []string) bool {
	rest := len(codings) - len(a.Coding)
	if rest < 0 || !slices.Equal(codings[rest:], a.Coding) {
		// A header with a redacted part cannot be compared.
		return slices.ContainsFunc(codings, func(c string) bool { return strings.Contains(c, redact.MarkerStart) })
	}
	return rest == 0 || a.Truncated || a.BodyError != "" || a.Size == 0
}

// Codings lists the content codings of a header in lower case, in order (RFC 9110 §8.4).
func Codings(header []Field) []string {
	var codings []string
	for _, c := range strings.Split(strings.Join(Values(header, "Content-Encoding"), ","), ",") {
		if c = strings.ToLower(strings.TrimSpace(c)); c != "" && c != "identity" {
			codings = append(codings, c)
		}
	}
	return codings
}

// checkComplete checks the evidence of a complete run: each planned label has an outcome, no more requests are recorded than were sent, and each body belongs
// to an exchange.
func (r *reader) checkComplete() error {
	log := &r.state.log
	if log.Ended == nil || !log.Ended.Complete {
		return nil
	}
	var missing []string
	for _, l := range log.Planned {
		if !r.state.answered[l] && !r.state.skipped[l] {
			missing = append(missing, fmt.Sprintf("%.80q", l))
		}
	}
	if len(missing) > 0 {
		return &Inconsistency{Incomplete: true, What: fmt.Sprintf("%s without an exchange and without a reason why it was not sent: %s",
			Count(len(missing), "planned label"), strings.Join(missing[:min(len(missing), 5)], ", "))}
	}
	if r.version == SchemaV1 {
		return nil
	}
	attempts := 0
	for _, x := range log.Exchanges {
		attempts += x.Attempts + len(x.Redirects)
	}
	for _, h := range log.Handshakes {
		attempts += h.Attempts
	}
	if attempts > log.Ended.Requests {
		return inconsistent("%s recorded, and %d sent", Count(attempts, "request"), log.Ended.Requests)
	}
	if len(r.unused) > 0 {
		return inconsistent("body %s belongs to no exchange", slices.Min(slices.Collect(maps.Keys(r.unused))))
	}
	return nil
}
