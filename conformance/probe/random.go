package probe

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/rin-network/rin/conformance/forge"
)

// uuid is a random version 4 UUID (RFC 9562 §5.4).
func uuid(random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", err
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:], nil
}

// basic is the value of an Authorization header (RFC 7617 §2).
func basic(id, secret string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(id+":"+secret))
}

// drawn are the random values of a run, drawn before anything is sent, so that the same random bytes give the same requests.
type drawn struct {
	id          string // names what the node cannot know: clients, items, query parameters
	wrongSecret string
}

func draw(secret string, random io.Reader) (drawn, error) {
	id, err := uuid(random)
	if err != nil {
		return drawn{}, fmt.Errorf("draw the id of the run: %w", err)
	}
	wrong, err := forge.Misspelt(secret, random)
	if err != nil {
		return drawn{}, fmt.Errorf("draw a wrong secret: %w", err)
	}
	return drawn{id, wrong}, nil
}
