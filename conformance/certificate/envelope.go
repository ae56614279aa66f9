// Package certificate makes and verifies signed statements about a certification.
//
// Three things are kept apart. A *claim* says what a node answered and how it was judged; those who ran the suite make it ([NewClaim]). A
// *certificate* says that the operator of a registry ran the suite, and that the node passed under a policy ([NewCertificate]). A *trust mark*
// says that a certificate is valid now ([SignMark]). Claim and certificate are in-toto statements in a DSSE envelope, the trust mark is a JWT;
// one Ed25519 key signs them, so that OpenSSL, securesystemslib, cosign and any JWT library can check them without rin.
//
// [Verify] recomputes a run in order: signature, digests, plan, exchanges, judgement. It names the first thing that does not hold. Without a
// signature it shows consistency, never authenticity.
package certificate

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

// PayloadType is the payload type of every envelope. It is signed with the payload, so that no other signed text is taken for a statement.
const PayloadType = "application/vnd.in-toto+json"

// maxEnvelope bounds an envelope in bytes. The longest claim has an entry for each requirement of the catalogue and a dozen files.
const maxEnvelope = 1 << 20

// NewKey draws an Ed25519 key and returns it as PKCS#8 in PEM.
func NewKey(random io.Reader) ([]byte, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return nil, fmt.Errorf("draw a key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed(seed))
	if err != nil {
		return nil, fmt.Errorf("encode the key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// ReadKey reads a key as [NewKey] and "openssl genpkey -algorithm ed25519" write it. Its errors do not quote the text.
func ReadKey(text []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "PRIVATE KEY" {
		return nil, errors.New("expected a private key in PEM (PRIVATE KEY)")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("expected a private key in PKCS#8 without a passphrase")
	}
	private, ok := key.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("expected an Ed25519 key, got %T", key)
	}
	return private, nil
}

// WritePublicKey returns the public key as PKIX in PEM.
func WritePublicKey(key ed25519.PublicKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode the public key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

// ReadPublicKey reads the output of [WritePublicKey].
func ReadPublicKey(text []byte) (ed25519.PublicKey, error) {
	block, _ := pem.Decode(text)
	switch {
	case block == nil:
		return nil, errors.New("expected a public key in PEM")
	case block.Type == "PRIVATE KEY":
		return nil, errors.New("expected a public key, got a private key, which must stay with its owner")
	case block.Type != "PUBLIC KEY":
		return nil, fmt.Errorf("expected a PUBLIC KEY, got a %.40q", block.Type)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read the public key: %w", err)
	}
	public, ok := key.(ed25519.PublicKey)
	if !ok {
		return nil, fmt.Errorf("expected an Ed25519 key, got %T", key)
	}
	return public, nil
}

// Fingerprint names a public key for people: the SHA-256 digest of its PKIX form.
func Fingerprint(key ed25519.PublicKey) string {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return "unknown"
	}
	sum := sha256.Sum256(der)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// signer is one key in the form that the DSSE library asks for. It has no key id: with one, cosign's check without a network fails.
type signer struct{ private ed25519.PrivateKey }

// Sign implements dsse.Signer.
func (s signer) Sign(_ context.Context, data []byte) ([]byte, error) {
	return ed25519.Sign(s.private, data), nil
}

// KeyID implements dsse.Signer and dsse.Verifier.
func (s signer) KeyID() (string, error) { return "", nil }

// verifier is one public key in the form that the DSSE library asks for.
type verifier struct{ public ed25519.PublicKey }

// Verify implements dsse.Verifier.
func (v verifier) Verify(_ context.Context, data, signature []byte) error {
	if !ed25519.Verify(v.public, data, signature) {
		return errors.New("the signature was not made by this key")
	}
	return nil
}

// KeyID implements dsse.Verifier.
func (v verifier) KeyID() (string, error) { return "", nil }

// Public implements dsse.Verifier.
func (v verifier) Public() crypto.PublicKey { return v.public }

// Sign puts a payload into an envelope and signs it.
func Sign(payload []byte, key ed25519.PrivateKey) ([]byte, error) {
	s, err := dsse.NewEnvelopeSigner(signer{key})
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	e, err := s.SignPayload(context.Background(), PayloadType, payload)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return canonical(envelope{PayloadType: e.PayloadType, Payload: e.Payload, Signatures: []signature{{Sig: e.Signatures[0].Sig}}}), nil
}

// envelope is the one form of an envelope that is accepted: a signature without a key id, members in this order, one line.
type envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"`
	Signatures  []signature `json:"signatures"`
}

type signature struct {
	Sig string `json:"sig"`
}

// canonical encodes an envelope or a statement as JSON in its only accepted form.
func canonical(value any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic(err) // plain data always encodes
	}
	return b.Bytes()
}

// Signed is the decoded content of an envelope.
type Signed struct {
	Payload   []byte
	Signature []byte
}

// PAE returns the bytes that are signed: DSSE's pre-authentication encoding of type and payload.
func (s Signed) PAE() []byte { return dsse.PAE(PayloadType, s.Payload) }

// PredicateType returns the type of the predicate in the statement, or "" if the payload is not a statement.
func (s Signed) PredicateType() string {
	kind, _ := predicateType(s.Payload)
	return kind
}

// Open reads an envelope without checking its signature. It accepts only the canonical form, so that every byte of the file is accounted for;
// and it checks the payload type, because the DSSE library accepts an empty one.
func Open(text []byte) (Signed, error) {
	if len(text) > maxEnvelope {
		return Signed{}, fmt.Errorf("expected at most %d bytes, got %d", maxEnvelope, len(text))
	}
	var e envelope
	if err := json.Unmarshal(text, &e); err != nil {
		return Signed{}, fmt.Errorf("expected a DSSE envelope: %w", err)
	}
	switch {
	case e.PayloadType != PayloadType:
		return Signed{}, fmt.Errorf("payload type: expected %q, got %.80q", PayloadType, e.PayloadType)
	case len(e.Signatures) != 1:
		return Signed{}, fmt.Errorf("signatures: expected one, got %d", len(e.Signatures))
	case !bytes.Equal(canonical(e), text):
		return Signed{}, errors.New("the envelope is not in its canonical form: one line with payloadType, payload and one signature without a keyid")
	}
	var s Signed
	var err error
	if s.Payload, err = base64.StdEncoding.Strict().DecodeString(e.Payload); err != nil {
		return Signed{}, fmt.Errorf("payload: expected base64: %w", err)
	}
	if s.Signature, err = base64.StdEncoding.Strict().DecodeString(e.Signatures[0].Sig); err != nil {
		return Signed{}, fmt.Errorf("signature: expected base64: %w", err)
	}
	return s, nil
}

// Check verifies the signature.
func (s Signed) Check(key ed25519.PublicKey) error {
	v, err := dsse.NewEnvelopeVerifier(verifier{key})
	if err != nil {
		return fmt.Errorf("prepare the verification: %w", err)
	}
	_, err = v.Verify(context.Background(), &dsse.Envelope{
		PayloadType: PayloadType, Payload: base64.StdEncoding.EncodeToString(s.Payload),
		Signatures: []dsse.Signature{{Sig: base64.StdEncoding.EncodeToString(s.Signature)}},
	})
	if err != nil {
		return fmt.Errorf("the signature was not made by the key %s over this payload", Fingerprint(key))
	}
	return nil
}
