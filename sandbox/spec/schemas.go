package spec

import (
	"maps"
	"slices"

	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/content"
)

// The schemas of the three kinds of fundings do not overlap: each restricts "type" to its own values. So exactly one
// branch of the union fits a record, and a Call that lacks a member of calls fits none: it cannot pass as a funding
// of a kind with fewer required members. The schemas are flat, because simple generators merge allOf wrongly.

// callTypes, otherTypes and PROGRAMME together are the vocabulary of types.
func callTypes() []model.FundingType {
	return []model.FundingType{model.TypeCall, model.TypeOngoingCall}
}

func otherTypes() []model.FundingType {
	return []model.FundingType{model.TypeResearchContract, model.TypeAward, model.TypeGrant, model.TypeScholarship}
}

func fundingSchemas() node {
	return node{
		"Funding":      fundingUnion(),
		"Call":         callSchema(),
		"Programme":    programmeSchema(),
		"OtherFunding": object("A funding that is neither call nor programme.", commonRequired(), commonProperties(otherTypes()...)),
		"BaseFunding": object("A reference to another funding.", []string{"id", "type", "name"}, node{
			"id": text(), "type": ref("FundingType"), "name": texts(), "acronym": text(), "identifiers": arrayOf(ref("Identifier")),
		}),
		"CallStage": object("One window in which proposals are taken.", []string{"callStageStart", "callStageEnd"}, node{
			"number":               withDescription(text(), "The number of the stage, as a string."),
			"callStageStart":       dateTime(),
			"callStageEnd":         withDescription(dateTime(), "The deadline of the stage."),
			"callStageDescription": texts(),
		}),
		"Annotation": object("A note for the members of one affiliation.", []string{"affiliationId", "text"}, node{
			"affiliationId": withDescription(text(), "The affiliation ID of the calling service account."),
			"text":          texts(),
		}),
	}
}

func fundingUnion() node {
	mapping := node{string(model.TypeProgramme): "#/components/schemas/Programme"}
	for _, t := range callTypes() {
		mapping[string(t)] = "#/components/schemas/Call"
	}
	for _, t := range otherTypes() {
		mapping[string(t)] = "#/components/schemas/OtherFunding"
	}
	return node{
		"description":   "A funding of any kind; the member type says which.",
		"oneOf":         list{ref("Call"), ref("Programme"), ref("OtherFunding")},
		"discriminator": node{"propertyName": "type", "mapping": mapping},
	}
}

func commonRequired() []string {
	return []string{"id", "type", "name", "funder", "characteristics", "targetGroups", "subjects", "fundingScheme", "legalType"}
}

func commonProperties(types ...model.FundingType) node {
	return node{
		"id":              withDescription(text(), "The id that the detail operation takes."),
		"type":            vocabulary("", types...),
		"name":            texts(),
		"identifiers":     arrayOf(ref("Identifier")),
		"acronym":         text(),
		"description":     texts(),
		"funder":          arrayOf(ref("Funder")),
		"characteristics": arrayOf(ref("FundingCharacteristic")),
		"targetGroups":    arrayOf(ref("TargetGroup")),
		"subjects":        withDescription(arrayOf(ref("Subject")), "Fields of research; the fractions add up to 1."),
		"careerStages":    arrayOf(ref("CareerStage")),
		"fundingScheme":   ref("FundingType"),
		"legalType":       ref("LegalType"),
		"website":         arrayOf(text()),
		"annotations":     withDescription(arrayOf(ref("Annotation")), "Notes for the caller's affiliation, if there are any."),
	}
}

func programmeSchema() node {
	return object("A programme, which has several calls.", commonRequired(), join(commonProperties(model.TypeProgramme), node{
		"programmeTracks": arrayOf(texts()),
		"startDate":       dateTime(),
		"endDate":         dateTime(),
	}))
}

func callSchema() node {
	required := slices.Concat(commonRequired(), []string{"submissionModes", "minProjectVolume", "maxProjectVolume", "fullyFunded",
		"minInkind", "maxOverHeads", "minProjectDuration", "maxProjectDuration", "applicationLanguages"})
	return object("A funding to which proposals can be submitted.", required, join(commonProperties(callTypes()...), node{
		"callStages":                arrayOf(ref("CallStage")),
		"callVolumeProjects":        integer(),
		"amount":                    ref("Volume"),
		"contacts":                  arrayOf(ref("Contact")),
		"decisionProcesses":         arrayOf(ref("DecisionProcess")),
		"decisionProcessDetails":    texts(),
		"submissionModes":           arrayOf(ref("SubmissionMode")),
		"dmpRequired":               withDescription(node{"type": "boolean"}, "Whether a data management plan is required."),
		"dmpGuidelines":             text(),
		"projectStart":              texts(),
		"targetGroupSpecified":      texts(),
		"eligibleApplicants":        texts(),
		"eligibleApplicantsScope":   ref("EligibleApplicantsScope"),
		"eligibleApplicantsRegions": arrayOf(ref("EligibleApplicantsRegion")),
		"minProjectVolume":          ref("Volume"),
		"maxProjectVolume":          ref("Volume"),
		"fullyFunded":               node{"type": "boolean"},
		"minInkind":                 percent("The least share that applicants bear themselves, in percent."),
		"maxOverHeads":              percent("The highest rate of eligible overheads, in percent."),
		"inkindDetails":             texts(),
		"overheadsDetails":          texts(),
		"minProjectDuration":        ref("TimeSpan"),
		"maxProjectDuration":        ref("TimeSpan"),
		"reportingPeriods":          texts(),
		"applicationLanguages":      arrayOf(text()),
		"partOf":                    ref("BaseFunding"),
		"thematicOrientations":      arrayOf(texts()),
	}))
}

// valueSchemas returns the schemas of parts of fundings, and the vocabularies.
func valueSchemas() node {
	return node{
		"Text": object("A text in one language.", []string{"lang", "trans", "text"}, node{
			"lang":  withDescription(text(), "ISO 639-1 code, de or en."),
			"trans": ref("TranslationEnum"),
			"text":  text(),
		}),
		"Volume": object("An amount of money.", nil, node{
			"currency": withDescription(text(), "ISO 4217 code."), "amount": number(),
		}),
		"TimeSpan": object("A duration; the parts add up.", nil, node{"days": integer(), "months": integer(), "years": integer()}),
		"Subject": object("A share of a field of research.", nil, node{
			"value": withDescription(text(), "Code of the classification ÖFOS 2012."), "fraction": number(),
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
			"countryCode": withDescription(text(), "ISO 3166-1 alpha-2 code."), "addrline1": text(), "postCode": text(),
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

// nodeSchemas returns the schemas of the info resource.
func nodeSchemas() node {
	return node{
		"Info": object("Where the APIs of the node are.", []string{"endpoints"}, node{
			"endpoints": node{
				"type": "object", "description": "Endpoints by family.", "additionalProperties": arrayOf(ref("Endpoint")),
			},
		}),
		"Endpoint": object("One operation that the node offers.", []string{"name", "majorVersion", "minorVersion", "url"}, node{
			"name": withDescription(text(), "FUNDINGS for a list, FUNDING for one by its id."), "majorVersion": integer(), "minorVersion": integer(),
			"url": withDescription(text(), "Absolute, without a query; {id} stands for an id."),
		}),
	}
}

// errorSchema returns the schema of the error body.
func errorSchema(shape content.ErrorShape) node {
	if shape == content.ShapeText {
		return node{"Error": object("An error.", []string{"error"}, node{"error": withDescription(text(), "The status with its phrase.")})}
	}
	return node{
		"Problem": object("An error (RFC 9457).", []string{"type", "title", "status", "detail"}, node{
			"type": text(), "title": text(),
			"status":    withDescription(integer(), "The status code of the answer."),
			"detail":    withDescription(text(), "What was wrong with the request."),
			"hint":      withDescription(text(), "How to do it right."),
			"parameter": withDescription(text(), "The query parameter at fault."),
			"allowed":   withDescription(arrayOf(text()), "The values that the parameter takes."),
		}),
	}
}

// node is one object of the document; encoding sorts its members, so that the document is stable.
type node = map[string]any

// list is an array of the document.
type list = []any

func ref(name string) node { return node{"$ref": "#/components/schemas/" + name} }

func arrayOf(items node) node { return node{"type": "array", "items": items} }

func text() node { return node{"type": "string"} }

func withDescription(schema node, description string) node {
	schema["description"] = description
	return schema
}

func texts() node { return arrayOf(ref("Text")) }

func number() node { return node{"type": "number", "format": "double"} }

func percent(description string) node {
	return node{"type": "number", "format": "double", "minimum": 0, "maximum": 100, "description": description}
}

func integer() node { return node{"type": "integer", "format": "int32"} }

func dateTime() node { return node{"type": "string", "format": "date-time"} }

// object returns an object schema. Further members are allowed: within a major version the network adds
// some.
func object(description string, required []string, properties node) node {
	o := node{"type": "object", "properties": properties}
	if description != "" {
		o["description"] = description
	}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

// vocabulary returns a string schema with an enumeration.
func vocabulary[T ~string](description string, members ...T) node {
	v := node{"type": "string", "enum": members}
	if description != "" {
		v["description"] = description
	}
	return v
}

// join unites property maps; later ones take precedence.
func join(properties ...node) node {
	all := node{}
	for _, m := range properties {
		maps.Copy(all, m)
	}
	return all
}
