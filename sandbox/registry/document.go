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

// Entry is that of a node whose clients get tokens from one URL and info from another.
func (m Member) Entry(token, info string) model.Member {
	return model.Member{ID: m.ID, Acronym: m.Acronym, Name: m.Name, Contact: m.Contact, OAuth2: token, Info: info}
}

// Entries are those of a node that is listed under both its token endpoints, for a caller who sees it at origin: that of the interface
// document's staging path, then that of the identity provider (NET-R10).
func (m Member) Entries(places address.Map, origin string) []model.Member {
	realm := m
	realm.ID, realm.Name = m.ID+realmSuffix, m.Name+" (Realm)"
	return []model.Member{m.Entry(origin+places.Token(), origin+places.Info()), realm.Entry(origin+places.RealmToken(), origin+places.Info())}
}
