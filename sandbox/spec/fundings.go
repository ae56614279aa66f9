package spec

import (
	"slices"

	"github.com/rin-network/rin/fixtures/model"
)

// The schemas of the three kinds of fundings do not overlap: each restricts "type" to its own values. So exactly one
// branch of the union fits a record, and a Call that lacks a member of calls fits none: it cannot pass as a funding
// with fewer duties. The schemas are flat, not composed by allOf, which naive generators merge wrongly (M13).

// callTypes and otherTypes divide the vocabulary of types, together with PROGRAMME.
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
			"number":               described(text(), "The number of the stage, as a string."),
			"callStageStart":       dateTime(),
			"callStageEnd":         described(dateTime(), "The deadline of the stage."),
			"callStageDescription": texts(),
		}),
		"Annotation": object("A note for the members of one affiliation.", []string{"affiliationId", "text"}, node{
			"affiliationId": described(text(), "The affiliation ID of the calling service account."),
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
		"id":              described(text(), "The id that the detail operation takes."),
		"type":            vocabulary("", types...),
		"name":            texts(),
		"identifiers":     arrayOf(ref("Identifier")),
		"acronym":         text(),
		"description":     texts(),
		"funder":          arrayOf(ref("Funder")),
		"characteristics": arrayOf(ref("FundingCharacteristic")),
		"targetGroups":    arrayOf(ref("TargetGroup")),
		"subjects":        described(arrayOf(ref("Subject")), "Fields of research; the fractions add up to 1."),
		"careerStages":    arrayOf(ref("CareerStage")),
		"fundingScheme":   ref("FundingType"),
		"legalType":       ref("LegalType"),
		"website":         arrayOf(text()),
		"annotations":     described(arrayOf(ref("Annotation")), "Notes for the caller's affiliation, if there are any."),
	}
}

func programmeSchema() node {
	return object("The roof over several calls.", commonRequired(), join(commonProperties(model.TypeProgramme), node{
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
		"callVolumeProjects":        int32s(),
		"amount":                    ref("Volume"),
		"contacts":                  arrayOf(ref("Contact")),
		"decisionProcesses":         arrayOf(ref("DecisionProcess")),
		"decisionProcessDetails":    texts(),
		"submissionModes":           arrayOf(ref("SubmissionMode")),
		"dmpRequired":               described(node{"type": "boolean"}, "Whether a data management plan is required."),
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
