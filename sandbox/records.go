package sandbox

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/rin-network/rin/fixtures/generate"
	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/funding"
	"github.com/rin-network/rin/sandbox/info"
	"github.com/rin-network/rin/sandbox/problem"
	"github.com/rin-network/rin/sandbox/spec"
)

const day = 24 * time.Hour

// newRecords makes the generator of the sample data, and tells the day that it is made around.
func newRecords(c Config) (*generate.Generator, time.Time, error) {
	asOf := c.AsOf
	if asOf.IsZero() {
		asOf = c.Clock()
	}
	asOf = asOf.UTC().Truncate(day)
	records, err := generate.New(generate.Config{Seed: c.Seed, AsOf: asOf, Calls: c.Calls})
	return records, asOf, err
}

// newFundings makes the store of the sample data and the funding service, whose clock starts on the as-of day at the present time of day.
func newFundings(c Config, records *generate.Generator, asOf time.Time, accounts funding.Accounts, guard *auth.Guard) (*funding.Store, *funding.Service, error) {
	store, err := funding.NewStore(records, fmt.Sprintf("%d %d %s", c.Seed, c.Calls, asOf.Format(time.DateOnly)))
	if err != nil {
		return nil, nil, err
	}
	shift := asOf.Sub(c.Clock().UTC().Truncate(day))
	now := func() time.Time { return c.Clock().Add(shift) }
	return store, funding.NewService(store, accounts, guard, c.Paging, now, c.Logger), nil
}

// describer makes the descriptions of the OpenAPI documents, with examples from the records that are served.
type describer struct {
	paging  funding.Paging
	errors  problem.Shape
	records *generate.Generator
}

func (d describer) api(places address.Map) func(string) (spec.Description, error) {
	return d.describe(places, false)
}

func (d describer) tryOut(places address.Map) func(string) (spec.Description, error) {
	return d.describe(places, true)
}

func (d describer) describe(places address.Map, tryOut bool) func(string) (spec.Description, error) {
	return func(origin string) (spec.Description, error) {
		samples, err := d.samples()
		samples.Info = info.Endpoints(places, origin, nil)
		return spec.Description{
			Places: places, Origin: origin, TryOut: tryOut, Paging: d.paging, Errors: d.errors, Samples: samples,
		}, err
	}
}

// samples are the first call and the first programme.
func (d describer) samples() (spec.Samples, error) {
	var s spec.Samples
	for i := range d.records.Len() {
		facets := d.records.Facets(i)
		into := &s.Call
		switch facets.Type {
		case model.TypeCall:
			s.FundingID, s.FunderID = facets.ID, facets.FunderIDs[0]
		case model.TypeProgramme:
			into = &s.Programme
		default:
			continue
		}
		if *into == nil {
			encoded, err := json.Marshal(d.records.At(i))
			if err != nil {
				return s, fmt.Errorf("encode an example: %w", err)
			}
			*into = encoded
		}
		if s.Call != nil && s.Programme != nil {
			break
		}
	}
	return s, nil
}
