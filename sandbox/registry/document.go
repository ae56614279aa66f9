package registry

import (
	"encoding/json"
	"net/http"

	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/problem"
	"github.com/rin-network/rin/sandbox/representation"
)

// The ids of the sandbox's entries.
const (
	// NodeID is the entry with the staging token endpoint.
	NodeID = "XA"
	// RealmNodeID is the same node with the token endpoint of the identity provider's realm.
	RealmNodeID = "XA_Realm"
)

// Document serves the registry with the node at places, addressed as the caller sees it.
func Document(places address.Map) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := json.Marshal(Entries(places, places.Origin(r)))
		if err != nil {
			problem.Internal().Write(w, r)
			return
		}
		representation.New("application/json", body).Serve(w, r, representation.Open())
	})
}

// Entries is the registry for a caller that sees the node at origin.
func Entries(places address.Map, origin string) model.Registry {
	node := model.Member{
		ID: NodeID, Acronym: "MUST", Name: "Universität Musterstadt", Contact: "ris@must.example",
		OAuth2: origin + places.Token(), Info: origin + places.Info(),
	}
	realm := node
	realm.ID, realm.Name, realm.OAuth2 = RealmNodeID, "Universität Musterstadt (Realm)", origin+places.RealmToken()
	return model.Registry{Member: []model.Member{node, realm}}
}
