package redact_test

import (
	"strings"
	"testing"

	"github.com/rin-network/rin/conformance/evidence/redact"
)

// BenchmarkFinder reads a list of 2 MB without a secret.
func BenchmarkFinder(b *testing.B) {
	body := []byte("[" + strings.Repeat(`{"id":"XA-2026-000123","title":"Gewonnene Schlüssel und key words","url":"https://node.example/fundings/XA-2026-000123"},`, 18_000) + `{}]`)
	r := redact.New(nil)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		r.Finder().Body(body, nil, false, false)
	}
}
