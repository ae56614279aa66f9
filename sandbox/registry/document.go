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
	RealmNodeID = NodeID + realmSuffix

	realmSuffix = "_Realm"
)

// Document serves the registry that entries makes for a caller who sees the network at an origin.
func Document(places address.Map, entries func(origin string) model.Registry) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := json.Marshal(entries(places.Origin(r)))
		if err != nil {
			problem.Internal().Write(w, r)
			return
		}
		representation.New("application/json", body).Serve(w, r, representation.Open())
	})
}

// Member is who runs a node, as its registry entry says.
type Member struct {
	// ID is the code of the entry.
	ID string
	// Acronym and Name are those of the institution.
	Acronym, Name string
	// Contact is an e-mail address.
	Contact string
}

// First is the member of a network that has one node.
func First() Member {
	return Member{ID: NodeID, Acronym: "MUST", Name: "Universität Musterstadt", Contact: "ris@must.example"}
}

// Entries are those of one node for a caller who sees it at origin: with the token endpoint of the interface document's staging path,
// then with the identity provider's (NET-R10).
func (m Member) Entries(places address.Map, origin string) []model.Member {
	plain := model.Member{ID: m.ID, Acronym: m.Acronym, Name: m.Name, Contact: m.Contact, OAuth2: origin + places.Token(), Info: origin + places.Info()}
	realm := plain
	realm.ID, realm.Name, realm.OAuth2 = m.ID+realmSuffix, m.Name+" (Realm)", origin+places.RealmToken()
	return []model.Member{plain, realm}
}
