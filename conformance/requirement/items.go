package requirement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
)

// itemsOf reads the items of a list answer; of a list that was cut off at the read limit, those before the cut.
func itemsOf(x exchange.Exchange) ([][]byte, error) {
	if x.Response != nil && x.Response.Truncated {
		if list, ok := document.ReadList(x.Response.Body); ok && len(list.Items) > 0 {
			return list.Items, nil
		}
	}
	return itemsIn(jsonText(x))
}

// itemsIn reads the items of a list from what was read as JSON.
func itemsIn(text []byte, err error) ([][]byte, error) {
	if err != nil {
		return nil, err
	}
	list, ok := document.ListIn(text)
	if !ok {
		return nil, fmt.Errorf("the answer is not a list but one %s", textType(text))
	}
	return list.Items, nil
}

// holds reports whether one of the values is the wanted one; vocabularies are compared without case.
func holds(values []string, want string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(v, want) })
}
