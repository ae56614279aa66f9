package walk

import (
	"slices"

	"github.com/rin-network/rin/conformance/exchange"
)

// Revealed is an exchange with the values of secrets in its request. It is for the person who knows them anyway, and never kept.
func Revealed(x exchange.Exchange, reveal func(text string) string) exchange.Exchange {
	q := &x.Request
	q.URL = reveal(q.URL)
	q.Body = exchange.Body(reveal(string(q.Body)))
	q.Header = slices.Clone(q.Header)
	for i := range q.Header {
		q.Header[i].Value = reveal(q.Header[i].Value)
	}
	return x
}
