package utp

import (
	"fmt"

	"github.com/go-json-experiment/json"
)

// Report is the payload that reports a result (UTP, "Results"): routing and a pointer. The result itself is in the
// tool.result card.
type Report struct {
	AfterExecution   AfterExecution `json:"after_execution"`
	Status           Status         `json:"status"`
	ToolResultCardID string         `json:"tool_result_card_id"`
}

// EncodeReport writes exactly the three keys. The error is a [*PayloadError].
func EncodeReport(r Report) ([]byte, error) {
	if !r.AfterExecution.Valid() {
		return nil, &PayloadError{
			Reason: CodeInvalidAfterExecution, Field: keyAfterExecution,
			Found: Shown(string(r.AfterExecution)), Expected: "suspend or terminate",
		}
	}
	if !r.Status.Valid() {
		return nil, invalidStatus(string(r.Status))
	}
	if !validID(r.ToolResultCardID) {
		return nil, &PayloadError{Reason: CodeBadRequest, Field: keyToolResultCardID, Found: Shown(r.ToolResultCardID), Expected: idRule}
	}
	out, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	return out, nil
}

// DecodeReport reads a report in either form, like [DecodeCommand]. The card is required. With invalid_status the
// status is failed; with invalid_after_execution that field is left empty, and the card supplies it. In both cases the
// rest and the context are still filled in (U-23, U-26).
func DecodeReport(raw []byte, header Context) (Report, Context, error) {
	p, err := decodePayload(raw)
	if err != nil {
		return Report{}, header, err
	}
	merged, err := p.control(header)
	if err != nil {
		return Report{}, header, err
	}
	var r Report
	if r.ToolResultCardID, err = p.card(keyToolResultCardID); err != nil {
		return Report{}, header, err
	}
	status, err := p.text(keyStatus)
	if err != nil {
		return Report{}, header, err
	}
	after, err := p.after()
	r.AfterExecution, r.Status = after, Status(status)
	if !r.Status.Valid() {
		r.Status = StatusFailed
		return r, merged, invalidStatus(status)
	}
	return r, merged, err
}

func invalidStatus(found string) error {
	return &PayloadError{
		Reason: CodeInvalidStatus, Field: keyStatus, Found: Shown(found),
		Expected: "success, failed, canceled, timeout or partial",
	}
}
