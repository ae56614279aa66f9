package requirement

import (
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// itemLinkLabels returns the labels of the requests that follow the links of items to themselves.
func itemLinkLabels() []evidence.Label {
	return []evidence.Label{evidence.ListOperation.With("link-item-1"), evidence.ListOperation.With("link-item-2")}
}

// judgeItemLinks judges the requests that follow the links of items to themselves. A link may lead to a web page or anything else about the item.
// Failures are warnings if another link works, or if the list changed during the run, because the items may have been removed meanwhile.
func judgeItemLinks(e Evidence) []Judgement {
	var parts, broken []Judgement
	for _, label := range itemLinkLabels() {
		x, sent := e.Get(e.Roles.List.With(label.Case()))
		if !sent {
			continue
		}
		j := judgeItemLink(e, x)
		if j.Outcome == Fail {
			broken = append(broken, j)
		}
		parts = append(parts, j)
	}
	if len(broken) == 0 || len(broken) == len(parts) && !e.anyPageChanged("") {
		return parts
	}
	for i := range parts {
		if parts[i].Outcome == Fail {
			parts[i].Outcome = Warn
		}
	}
	return parts
}

// judgeItemLink judges the request that follows the link of one item to itself.
func judgeItemLink(e Evidence, x evidence.Exchange) Judgement {
	want := expect(x, "the item, or a page about it")
	switch {
	case serverError(x):
		return want.failed("the link of an item to itself breaks the node", describe(x)).Hinting(itemLinkHint)
	case x.Failure != nil, x.Response == nil, rateLimited(x), wafPage(x):
		return Passed(x.Label) // nothing is known of the link
	case x.Status() == 404 || x.Status() == 405 || x.Status() == 410:
		return want.failed("the link of an item to itself leads nowhere", describe(x)).Hinting(itemLinkHint)
	case success(x) && leadsToOtherRecord(e, x):
		return want.failed("the link of an item to itself leads to another record", describe(x)).Hinting("build the link from the id of the record that has it")
	}
	return Passed(x.Label)
}

const itemLinkHint = "build links with the prefix under which clients reach the API: behind a proxy that removes it, by X-Forwarded-Prefix or a configured base URL"

// leadsToOtherRecord reports whether the answer is one record whose id differs from that of the item. An id that is a part of the other does not differ.
func leadsToOtherRecord(e Evidence, x evidence.Exchange) bool {
	items, err := e.itemsOf(e.exchange(e.Roles.List.With(evidence.OK)))
	at, errIndex := strconv.Atoi(x.Given["item"])
	if _, notList := e.itemsOf(x); err != nil || errIndex != nil || at < 0 || at >= len(items) || notList == nil {
		return false
	}
	records := recordsOf(e, x)
	if len(records) != 1 {
		return false
	}
	differ := false
	for _, member := range []string{e.identityMember(), "id"} {
		listed, shown := e.memberValues(items[at], member), e.memberValues(records[0], member)
		if len(listed) != 1 || len(shown) != 1 {
			continue
		}
		if strings.Contains(listed[0], shown[0]) || strings.Contains(shown[0], listed[0]) {
			return false
		}
		differ = true
	}
	return differ
}
