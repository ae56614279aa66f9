package requirement

import (
	"fmt"
	"slices"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
)

// bracketsAlike checks PAG-05.
func bracketsAlike(e Evidence) Judgement {
	if j, ok := listJudged(e); !ok {
		return j
	}
	raw, encoded := e.The(exchange.ListOperation.With(exchange.SizeRaw)), e.The(exchange.ListOperation.With(exchange.SizeTwo))
	for _, x := range []exchange.Exchange{raw, encoded} {
		if j, unclear := unclearIfNoVerdict(x); unclear && !serverError(x) {
			return j
		}
	}
	whole, _ := e.itemsOf(e.The(exchange.ListOperation.With(exchange.OK)))
	withRaw, withEncoded := sized(e, raw, whole), sized(e, encoded, whole)
	name := clip(raw.Given["parameter"])
	if !declaresQuery(e, raw.Given["parameter"]) && !withRaw.limited && !withEncoded.limited {
		return Missing(name + " is neither declared nor effective")
	}
	const expected = "the same page for both spellings"
	spelled := "encoded: " + withEncoded.got + ", raw: " + withRaw.got
	switch {
	case withRaw.listed && withEncoded.listed && slices.Equal(withRaw.items, withEncoded.items):
		return Passed(raw.Label, encoded.Label)
	case withRaw.limited && !withEncoded.limited:
		return Failed(name+" is understood with raw brackets only", expected, spelled).
			Hinting("decode the names of query parameters before they are looked up: clients and proxies encode brackets").about(encoded, withRaw.got, withEncoded.got)
	case withEncoded.listed && !withRaw.listed:
		return Warned("raw brackets are refused; the network's client sends them", expected, spelled).about(raw, withEncoded.got, withRaw.got)
	case withEncoded.limited && !withRaw.limited:
		return Warned("raw brackets are ignored; the network's client sends them", expected, spelled).about(raw, withEncoded.got, withRaw.got)
	case !withEncoded.listed && !withRaw.listed:
		return Missing("the size parameter is refused in both spellings, which PAG-02 judges")
	}
	return Warned("raw and encoded brackets give different pages", expected, spelled).about(raw, withEncoded.got, withRaw.got)
}

// sizedPage is what came of a call with a page size.
type sizedPage struct {
	items           []string
	listed, limited bool // limited: fewer items than the whole list
	got             string
}

func sized(e Evidence, x exchange.Exchange, whole [][]byte) sizedPage {
	items, err := e.itemsOf(x)
	p := sizedPage{listed: success(x) && err == nil, got: describe(x)}
	if p.listed {
		p.items, p.got = document.Identities(items), fmt.Sprintf("%d items", len(items))
		p.limited = len(items) < len(whole)
	}
	return p
}

// badValuesTaken checks PAG-06.
func badValuesTaken(e Evidence) Judgement {
	if j, ok := listJudged(e); !ok {
		return j
	}
	var parts []Judgement
	for _, c := range []exchange.Case{exchange.SizeNegative, exchange.SizeZero, exchange.SizeText, exchange.SizeHuge,
		exchange.PageNegative, exchange.PageText, exchange.FilterBad, exchange.UnknownQuery} {
		label := e.Roles.List.With(c)
		if x, sent := e.Get(label); sent {
			parts = append(parts, badValueTaken(e, x))
			continue
		}
		if j, lacks := e.lacking(label); lacks && j.Outcome == Inconclusive {
			parts = append(parts, j)
		}
	}
	return gather(append(parts, brokenByValues(e)...)...)
}

func badValueTaken(e Evidence, x exchange.Exchange) Judgement {
	const expected = "4xx, or the default in place of the value"
	asked := clip(x.Given["parameter"] + "=" + x.Given["value"])
	switch {
	case x.Failure != nil && x.Failure.Kind == exchange.FailureTimeout:
		return Failed(asked+" has no answer in time", expected, describe(x)).about(x, expected, describe(x))
	case serverError(x):
		return Failed(asked+" breaks the node", expected, describe(x)).about(x, expected, describe(x))
	case clientError(x) && !rateLimited(x):
		return Passed(x.Label) // also by a firewall in front of the node
	}
	if j, unclear := unclearIfNoVerdict(x); unclear {
		return j
	}
	items, err := e.itemsOf(x)
	if x.Label.Case() == exchange.FilterBad && success(x) && err == nil && len(items) > 0 {
		return Warned(fmt.Sprintf("%s, which is not in the vocabulary, gives %d items as if it had not been sent", asked, len(items)), "400 or an empty list", fmt.Sprintf("%d items", len(items))).
			Hinting("answer 400 and name the values that are allowed: a client with a misspelt filter takes the whole list for its result").about(x, "400 or an empty list", fmt.Sprintf("%d items", len(items)))
	}
	return Passed(x.Label)
}
