package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/rin-network/rin/sandbox"
)

// These benchmarks compare the answers of an API from its document with a bare handler that writes the same bytes.

func BenchmarkDescribedList(b *testing.B) {
	compareDescribed(b, func([]string) string { return "/shelves?limit=20" })
}

func BenchmarkDescribedDetail(b *testing.B) {
	compareDescribed(b, func(ids []string) string { return "/shelves/" + ids[7] })
}

func compareDescribed(b *testing.B, path func(ids []string) string) {
	node, nodeURL := benchNode(b, sandbox.Config{API: sandbox.APIConfig{File: "mockapi/testdata/library.json", Items: 500}})
	base := nodeURL + "/ris-synergy/library/live"
	header := http.Header{"Authorization": {"Bearer " + benchToken(b, nodeURL, node.Credentials()[0])}}
	all, err := benchSend(http.DefaultClient, request{http.MethodGet, base + "/shelves?limit=100", "", header})
	if err != nil {
		b.Fatal(err)
	}
	var list struct{ Items []struct{ ID int } }
	if err := json.Unmarshal(all, &list); err != nil || len(list.Items) != 100 {
		b.Fatalf("%d items, %v", len(list.Items), err)
	}
	var ids []string
	for _, item := range list.Items {
		ids = append(ids, fmt.Sprint(item.ID))
	}
	measured := request{http.MethodGet, base + path(ids), "", header}
	body, err := benchSend(http.DefaultClient, measured)
	if err != nil {
		b.Fatal(err)
	}
	bare := benchServer(b, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write(body)
	}))
	compare(b, measured, request{http.MethodGet, bare, "", header})
}
