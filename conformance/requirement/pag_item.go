package requirement

import (
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
)

func itemsFetched(e Evidence) Judgement {
	if j, ok := listJudged(e); !ok {
		return j
	}
	if e.Roles.Detail == "" {
		return Missing("this run has no " + roleName(exchange.DetailOperation.With(exchange.OK)))
	}
	listed, _ := e.itemsOf(e.The(exchange.ListOperation.With(exchange.OK)))
	var parts, unsent []Judgement
	for _, c := range []exchange.Case{exchange.ItemFirst, exchange.ItemMiddle, exchange.ItemLast} {
		label := e.Roles.Detail.With(c)
		if _, planned := e.Skipped(label); !planned {
			if _, sent := e.Get(label); !sent && len(parts)+len(unsent) > 0 {
				continue // a short list has no middle
			}
		}
		if j, lacks := e.lacking(label); lacks {
			unsent = append(unsent, j)
			continue
		}
		parts = append(parts, itemFetched(e, e.The(label), listed))
	}
	if len(parts) == 0 {
		return gather(unsent...)
	}
	for _, j := range unsent {
		if j.Outcome == Inconclusive {
			parts = append(parts, j)
		}
	}
	return gather(parts...)
}

// itemFetched judges one detail answer by the id that was asked for.
func itemFetched(e Evidence, x exchange.Exchange, listed [][]byte) Judgement {
	id, member := x.Given["id"], "id"
	if m := x.Given["member"]; m != "" {
		member = m
	}
	if j, unclear := unclearIfNoVerdict(x); unclear && !serverError(x) {
		return j
	}
	expected := "200 with " + member + " " + quote(id)
	switch {
	case success(x):
		if j := sameItem(e, x, member, id, expected); j.Outcome != Pass {
			return j
		}
		return agrees(e, x, listed, member, id)
	case (x.Status() == 404 || x.Status() == 410) && vanished(e, member, id):
		return Unclear("the item was taken off the list during the run").Hinting("repeat the run").about(x, expected, describe(x))
	case strings.Contains(id, "/") && (x.Status() == 400 || x.Status() == 404):
		return Warned("an id with a slash can't be fetched; servers refuse %2F in paths by default", expected, describe(x)).about(x, expected, describe(x))
	case x.Status() == 404 && elsewhere(listed, member, id):
		return Warned("an item that is neither call nor programme can't be fetched here", expected, describe(x)).
			Hinting("single items of this type are served by funders; leave the item out of the list or serve it").about(x, expected, describe(x))
	case redirected(x):
		return Unclear("the detail call leads to another place").about(x, expected, describe(x))
	}
	return Failed("a listed item can't be fetched by its id", expected, describe(x)).about(x, expected, describe(x))
}

// sameItem looks for the id at the top of the answer, or one level below in a usual envelope.
func sameItem(e Evidence, x exchange.Exchange, member, id, expected string) Judgement {
	text, err := e.jsonText(x)
	if err != nil {
		return Failed("the detail answer can't be read: "+clip(err.Error()), expected, describe(x)).about(x, expected, describe(x))
	}
	got := document.MemberValues(text, member)
	for _, envelope := range envelopes() {
		if len(got) == 0 {
			got = document.MemberValues(text, envelope+"."+member)
		}
	}
	switch {
	case slices.Contains(got, id):
		return Passed(x.Label)
	case len(got) == 0:
		return Failed("the detail answer has no "+clip(member), expected, "no "+clip(member)).about(x, expected, "no "+clip(member))
	}
	return Failed("the detail answer is another item", expected, quote(got[0])).about(x, expected, quote(got[0]))
}

// vanished reports whether the list, read again at the end, does not hold the item any more.
func vanished(e Evidence, member, id string) bool {
	again, asked := e.Get(e.Roles.List.With(exchange.ListAgain))
	if !asked || !success(again) {
		return false
	}
	items, err := e.itemsOf(again)
	return err == nil && itemWith(items, member, id) == nil && !again.Response.Truncated
}

// itemWith is the item of a list with the id; nil when there is none.
func itemWith(items [][]byte, member, id string) []byte {
	i := slices.IndexFunc(items, func(item []byte) bool { return slices.Contains(document.MemberValues(item, member), id) })
	if i < 0 {
		return nil
	}
	return items[i]
}

// elsewhere reports whether the list says that the item is of a type that only funders serve one by one.
func elsewhere(listed [][]byte, member, id string) bool {
	types := document.MemberValues(itemWith(listed, member, id), "type")
	return len(types) == 1 && !slices.Contains([]string{"CALL", "PROGRAMME"}, types[0])
}
