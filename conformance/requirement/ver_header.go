package requirement

import (
	"fmt"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/exchange"
)

// unknownVersionRefused checks VER-02.
func unknownVersionRefused(e Evidence) Judgement {
	x := e.The(exchange.Info.With(exchange.UnknownVersion))
	const expected = "404, or another 4xx"
	if serverError(x) {
		return Failed("a version that does not exist breaks the node", expected, describe(x)).about(x, expected, describe(x))
	}
	if j, unclear := noVerdict(x); unclear {
		return j
	}
	switch {
	case success(x) && len(x.Redirects) > 0:
		return Warned("a version that does not exist leads to one that does", expected, "redirected to "+describe(x)).about(x, expected, describe(x))
	case success(x) && html(x):
		return Warned("a version that does not exist is answered with a web page", expected, describe(x)).about(x, expected, describe(x))
	case success(x):
		return Failed("a version that does not exist is answered like one that does", expected, describe(x)).about(x, expected, describe(x))
	case redirected(x):
		return Warned("a version that does not exist leads to another place", expected, describe(x)).about(x, expected, describe(x))
	}
	return Passed(x.Label)
}

// sunsetsInOrder checks VER-03.
func sunsetsInOrder(e Evidence) Judgement {
	var parts []Judgement
	seen := map[string]bool{}
	found := false
	for _, x := range e.All(exchange.WholeRun) {
		deprecation, sunset := header(x, "Deprecation"), header(x, "Sunset")
		if !ofNode(x) || len(deprecation)+len(sunset) == 0 {
			continue
		}
		found = true
		key := strings.Join(deprecation, ", ") + "|" + strings.Join(sunset, ", ")
		if seen[key] {
			continue
		}
		seen[key] = true
		parts = append(parts, phasedOut(x, deprecation, sunset))
	}
	if !found {
		return Missing("no answer has a Deprecation or Sunset header")
	}
	return gather(parts...)
}

// ofNode leaves the registry and what belongs to other nodes out.
func ofNode(x exchange.Exchange) bool {
	r := x.Label.Resource()
	return r != exchange.Registry && !strings.HasPrefix(string(r), string(exchange.EndpointResource("")))
}

// phasedOut judges the two headers of one answer.
func phasedOut(x exchange.Exchange, deprecation, sunset []string) Judgement {
	var parts []Judgement
	since, sinceKnown := time.Time{}, false
	if len(deprecation) > 0 {
		value := strings.Join(deprecation, ", ") // lines of one name are one value (RFC 9110 §5.3)
		got := clip("Deprecation: " + value)
		const expected = "@ and seconds since 1970, such as Deprecation: @1688169599"
		date, form := exchange.DeprecationDate(value)
		since, sinceKnown = date, form != exchange.NoDate && !date.IsZero()
		switch form {
		case exchange.NoDate:
			parts = append(parts, Failed("the Deprecation header is not a date", expected, got).about(x, expected, got))
		case exchange.OlderDate:
			parts = append(parts, Warned("the Deprecation header has the form of an older draft", expected, got).about(x, expected, got))
		}
	}
	if len(sunset) > 0 {
		value := strings.Join(sunset, ", ")
		got := clip("Sunset: " + value)
		const expected = "an HTTP date, such as Sunset: Sun, 30 Jun 2024 23:59:59 GMT"
		end, form := exchange.HTTPDate(value)
		switch {
		case form == exchange.NoDate:
			parts = append(parts, Failed("the Sunset header is not an HTTP date", expected, got).about(x, expected, got))
		case form == exchange.OlderDate:
			parts = append(parts, Warned("the Sunset header has an obsolete form of dates", expected, got).about(x, expected, got))
		case sinceKnown && end.Before(since):
			got := clip(strings.Join(deprecation, ", ") + ", then " + got)
			parts = append(parts, Failed("the Sunset is earlier than the Deprecation", "a Sunset after the Deprecation", got).about(x, "a Sunset after the Deprecation", got))
		case success(x) && end.Before(answeredAt(x)):
			parts = append(parts, Warned("the Sunset has passed and the resource still answers", "a Sunset in the future", got).about(x, "a Sunset in the future", got))
		}
	}
	if len(parts) == 0 {
		return Passed(x.Label)
	}
	return gather(parts...)
}

// within says a time span in words that a reader takes in: "2 min 5 s".
func within(d time.Duration) string {
	d = d.Abs().Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours())/24)
}
