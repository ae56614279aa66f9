package spec

import (
	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/problem"
)

// valueSchemas are the parts that fundings are made of, and the vocabularies.
func valueSchemas() node {
	return node{
		"Text": object("A text in one language.", []string{"lang", "trans", "text"}, node{
			"lang":  described(text(), "ISO 639-1 code, de or en."),
			"trans": ref("TranslationEnum"),
			"text":  text(),
		}),
		"Volume": object("An amount of money.", nil, node{
			"currency": described(text(), "ISO 4217 code."), "amount": number(),
		}),
		"TimeSpan": object("A duration; the parts add up.", nil, node{"days": int32s(), "months": int32s(), "years": int32s()}),
		"Subject": object("A share of a field of research.", nil, node{
			"value": described(text(), "Code of the classification ÖFOS 2012."), "fraction": number(),
		}),
		"Contact":    object("Who answers questions.", nil, node{"name": text(), "email": text(), "phone": text()}),
		"Identifier": object("An identifier in a scheme.", nil, node{"type": ref("IdentifierTypeEnum"), "value": text()}),
		"Funder": object("An organisation and its part in a funding.", []string{"funderType"}, node{
			"funderType": ref("FunderType"), "funder": ref("OrgUnit"),
		}),
		"OrgUnit": object("An organisation or a part of one.", []string{"id", "name", "website"}, node{
			"id": text(), "name": texts(), "website": text(), "orgUnitType": ref("OrganisationTypeEnum"), "acronym": text(),
			"electronicAddress": arrayOf(text()), "partOf": ref("OrgUnit"), "identifiers": arrayOf(ref("Identifier")),
			"address": ref("PostAddress"), "submissionSystem": text(), "level": ref("LevelEnum"),
			"startDate": dateTime(), "endDate": dateTime(),
		}),
		"PostAddress": object("A postal address.", nil, node{
			"countryCode": described(text(), "ISO 3166-1 alpha-2 code."), "addrline1": text(), "postCode": text(),
			"cityTown": text(), "stateOfCountry": text(),
		}),

		"FundingType":              vocabulary("", model.FundingTypes()...),
		"TargetGroup":              vocabulary("", model.TargetGroups()...),
		"FundingCharacteristic":    vocabulary("", model.Characteristics()...),
		"CareerStage":              vocabulary("", model.CareerStages()...),
		"EligibleApplicantsRegion": vocabulary("A federal province.", model.Regions()...),
		"EligibleApplicantsScope":  vocabulary("From how far applicants may come.", model.Scopes()...),
		"LegalType":                vocabulary("", model.LegalTypes()...),
		"DecisionProcess":          vocabulary("", model.DecisionProcesses()...),
		"SubmissionMode":           vocabulary("", model.SubmissionModes()...),
		"IdentifierTypeEnum":       vocabulary("", model.IdentifierTypes()...),
		"LevelEnum":                vocabulary("", model.Levels()...),
		"OrganisationTypeEnum":     vocabulary("", model.OrgTypes()...),
		"FunderType":               vocabulary("", model.FunderTypes()...),
		"TranslationEnum":          vocabulary("Original, human or machine translation.", model.Translations()...),
	}
}

// nodeSchemas are the parts of the info resource.
func nodeSchemas() node {
	return node{
		"Info": object("Where the APIs of the node are.", []string{"endpoints"}, node{
			"endpoints": node{
				"type": "object", "description": "Endpoints by family.", "additionalProperties": arrayOf(ref("Endpoint")),
			},
		}),
		"Endpoint": object("One operation that the node offers.", []string{"name", "majorVersion", "minorVersion", "url"}, node{
			"name": described(text(), "FUNDINGS for a list, FUNDING for one by its id."), "majorVersion": int32s(), "minorVersion": int32s(),
			"url": described(text(), "Absolute, without a query; {id} stands for an id."),
		}),
	}
}

// errorSchema is the error body.
func errorSchema(shape problem.Shape) node {
	if shape == problem.ShapeText {
		return node{"Error": object("An error.", []string{"error"}, node{"error": described(text(), "The status with its phrase.")})}
	}
	return node{
		"Problem": object("An error (RFC 9457).", []string{"type", "title", "status", "detail"}, node{
			"type": text(), "title": text(),
			"status":    described(int32s(), "The status code of the answer."),
			"detail":    described(text(), "What was wrong with the request."),
			"hint":      described(text(), "How to do it right."),
			"parameter": described(text(), "The query parameter at fault."),
			"allowed":   described(arrayOf(text()), "The values that the parameter takes."),
		}),
	}
}
