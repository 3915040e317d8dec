package utp_test

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/earshot-dev/earshot/utp"
)

// TestNormalize covers UTP, "Results".
func TestNormalize(t *testing.T) {
	t.Parallel()
	toolError := func(code utp.Code, message string) *utp.ToolError {
		return &utp.ToolError{Code: code, Message: message, Source: utp.SourceTool}
	}
	failure := func(code, message string) string {
		return `{"error_code":"` + code + `","error_message":"` + message + `","error":{"code":"` + code + `","message":"` + message +
			`","source":"tool","retryable":false}}`
	}
	tests := []struct {
		name   string
		in     utp.ResultCard
		status utp.Status
		after  utp.AfterExecution
		result string
		err    *utp.ToolError
	}{
		{
			"success",
			utp.ResultCard{Status: utp.StatusSuccess, Result: []byte(`1`), Command: utp.Terminate},
			utp.StatusSuccess, utp.Terminate, `1`, nil,
		},
		{"success without a result", utp.ResultCard{Status: utp.StatusSuccess}, utp.StatusSuccess, utp.Suspend, `null`, nil},
		{
			"1: unknown status",
			utp.ResultCard{Status: "ok", Result: []byte(`1`)},
			utp.StatusFailed, utp.Suspend, `1`, toolError(utp.CodeInvalidStatus, `the status "ok" is none of the five`),
		},
		{
			"2: success with an error",
			utp.ResultCard{Status: utp.StatusSuccess, Result: []byte(`{}`), Error: &utp.ToolError{Code: utp.CodeNotFound, Message: "gone"}},
			utp.StatusFailed, utp.Suspend, `{}`, toolError(utp.CodeNotFound, "gone"),
		},
		{
			"2: an error without code or message",
			utp.ResultCard{Status: utp.StatusFailed, Result: []byte(`{}`), Error: &utp.ToolError{}},
			utp.StatusFailed, utp.Suspend, `{}`, toolError(utp.CodeUnknownError, "unknown error"),
		},
		{
			"3: derived from the result",
			utp.ResultCard{Status: utp.StatusPartial, Result: []byte(`{"error_code":"e1","error_message":"half"}`)},
			utp.StatusPartial, utp.Suspend, `{"error_code":"e1","error_message":"half"}`, toolError("e1", "half"),
		},
		{
			"3: derived from the result's error",
			utp.ResultCard{Status: utp.StatusFailed, Result: []byte(`{"error":{"code":"e2","message":"m"}}`)},
			utp.StatusFailed, utp.Suspend, `{"error":{"code":"e2","message":"m"}}`, toolError("e2", "m"),
		},
		{
			"3: nothing to derive from",
			utp.ResultCard{Status: utp.StatusCanceled},
			utp.StatusCanceled, utp.Suspend, failure("unknown_error", "unknown error"), toolError(utp.CodeUnknownError, "unknown error"),
		},
		{
			"4: detail is not JSON",
			utp.ResultCard{Status: utp.StatusFailed, Result: []byte(`{}`), Error: &utp.ToolError{Code: "e", Message: "m", Detail: []byte(`{`)}},
			utp.StatusFailed, utp.Suspend, `{}`, toolError(utp.CodeErrorNotSerializable, "the detail of e is not JSON"),
		},
		{
			"6: valid word of the service",
			utp.ResultCard{Status: utp.StatusSuccess, AfterExecution: utp.Terminate, Command: utp.Suspend},
			utp.StatusSuccess, utp.Terminate, `null`, nil,
		},
		{
			"6: invalid word of the service",
			utp.ResultCard{Status: utp.StatusSuccess, AfterExecution: "later", Command: utp.Terminate, Result: []byte(`1`)},
			utp.StatusFailed, utp.Suspend, `1`, toolError(utp.CodeInvalidAfterExecution, `after_execution "later" is neither suspend nor terminate`),
		},
		{
			"7: the override wins, on failures too",
			utp.ResultCard{Status: utp.StatusFailed, AfterExecution: utp.Suspend, Error: toolError("e", "m"), Result: []byte(`{"__cg_control":{"after_execution":"terminate"}}`)},
			utp.StatusFailed, utp.Terminate, `{"__cg_control":{"after_execution":"terminate"}}`, toolError("e", "m"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := tt.in.Normalize()
			if got.Status != tt.status || got.AfterExecution != tt.after || string(got.Result) != tt.result || !reflect.DeepEqual(got.Error, tt.err) {
				t.Errorf("got %s %s %s %+v\nwant %s %s %s %+v",
					got.Status, got.AfterExecution, got.Result, got.Error, tt.status, tt.after, tt.result, tt.err)
			}
		})
	}
}

// TestNormalizeMalformedResult covers results that are not JSON (UTP, "Results").
func TestNormalizeMalformedResult(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{`{`, `NaN`, `{"a":1,"a":2}`, "\"\xff\"", `1 2`} {
		got := utp.ResultCard{Status: utp.StatusSuccess, Result: []byte(bad), Error: &utp.ToolError{Code: "e", Message: "m"}}.Normalize()
		if got.Status != utp.StatusFailed || got.Error.Code != utp.CodeResultNotSerializable || !got.Result.IsValid() {
			t.Errorf("%q: %s %+v %s", bad, got.Status, got.Error, got.Result)
		}
		if want := `{"type":"bytes","original_error":{"code":"e","message":"m","source":"","retryable":false}}`; string(got.Error.Detail) != want {
			t.Errorf("%q: detail %s", bad, got.Error.Detail)
		}
	}
}

func TestNormalizeProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := resultCard()
		f.Status = rapid.SampledFrom([]utp.Status{utp.StatusSuccess, utp.StatusFailed, utp.StatusCanceled, utp.StatusTimeout, utp.StatusPartial, "", "done"}).Draw(t, "status")
		f.AfterExecution = rapid.SampledFrom([]utp.AfterExecution{"", utp.Suspend, utp.Terminate, "later"}).Draw(t, "after")
		f.Command = rapid.SampledFrom([]utp.AfterExecution{"", utp.Suspend, utp.Terminate, "later"}).Draw(t, "command")
		f.Result = jsontext.Value(rapid.SampledFrom([]string{
			``, `null`, `{}`, `[1]`, `"x"`, `{`, `{"error":"e"}`, `{"error_code":"c"}`, `{"__cg_control":{"after_execution":"terminate"}}`,
		}).Draw(t, "result"))
		f.Error = rapid.SampledFrom([]*utp.ToolError{
			nil, {}, {Code: "c"}, {Message: "m"}, {Code: utp.CodeBusy, Message: "m", Retryable: true, HTTPStatus: 409}, {Code: "c", Detail: []byte(`{`)},
		}).Draw(t, "error")

		once := f.Normalize()
		if twice := once.Normalize(); !reflect.DeepEqual(once, twice) {
			t.Fatalf("once  %+v %+v\ntwice %+v %+v", once, once.Error, twice, twice.Error)
		}
		if (once.Status == utp.StatusSuccess) != (once.Error == nil) {
			t.Fatalf("%s with error %+v", once.Status, once.Error)
		}
		card, err := utp.NewToolResult(f)
		if err != nil {
			t.Fatal(err)
		}
		back, err := utp.DecodeToolResult(card)
		if err != nil {
			t.Fatal(err)
		}
		report := f.Report()
		if back.Status != report.Status || back.AfterExecution != report.AfterExecution || report.ToolResultCardID != card.ID {
			t.Fatalf("card says %s %s, report says %+v", back.Status, back.AfterExecution, report)
		}
		if (back.Error == nil) != (once.Error == nil) || back.Error != nil && (back.Error.Code != once.Error.Code || back.Error.Retryable != once.Error.Retryable) {
			t.Fatalf("error %+v reads back as %+v", once.Error, back.Error)
		}
		if _, err := utp.EncodeReport(report); err != nil {
			t.Fatal(err)
		}
	})
}

func TestDecodeForeignResult(t *testing.T) {
	t.Parallel()
	card, err := utp.DecodeCard([]byte(`{"card_id":"r","tenant_id":"p","tool_call_id":"c",
		"content":{"__type__":"ToolResultContent","status":"exploded","after_execution":"terminate","result":null,"error":{"error_code":"boom","error_message":"bang"}},
		"metadata":{"type":"tool.result","project_id":"p","author_id":"tool.x","created_at":"2026-11-20T15:17:37.5+01:00","function_name":"x","tool_call_id":"c"}}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := utp.DecodeToolResult(card)
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != utp.StatusFailed || got.Error.Code != utp.CodeInvalidStatus || got.AfterExecution != utp.Terminate {
		t.Errorf("got %+v %+v", got, got.Error)
	}
}

// TestNormalizeError covers U-27.
func TestNormalizeError(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, raw, want string // want "" is nil
	}{
		{"absent", ``, ``},
		{"null", `null`, ``},
		{"whole", `{"code":"not_found","message":"gone","source":"worker","detail":[1],"retryable":true,"http_status":404}`, `{"code":"not_found","message":"gone","source":"worker","detail":[1],"retryable":true,"http_status":404}`},
		{"source fills in", `{"code":"c","message":"m"}`, `{"code":"c","message":"m","source":"tool","retryable":false}`},
		{"older names", `{"error_code":"c","error_message":"m","error_detail":{"a":1}}`, `{"code":"c","message":"m","source":"tool","detail":{"a":1},"retryable":false}`},
		{"code alone", `{"code":"tool_timeout"}`, `{"code":"tool_timeout","message":"tool timeout","source":"tool","retryable":false}`},
		{"a harmless code may be retried", `{"code":"busy","message":"m"}`, `{"code":"busy","message":"m","source":"tool","retryable":true}`},
		{"unless the speaker denies it", `{"code":"busy","message":"m","retryable":false}`, `{"code":"busy","message":"m","source":"tool","retryable":false}`},
		{"message alone", `{"message":"m"}`, `{"code":"internal_error","message":"m","source":"tool","retryable":false}`},
		{"other object", `{"a":1}`, `{"code":"internal_error","message":"{\"a\":1}","source":"tool","retryable":false}`},
		{"string", `"no space"`, `{"code":"internal_error","message":"no space","source":"tool","retryable":false}`},
		{"number", `12`, `{"code":"internal_error","message":"12","source":"tool","retryable":false}`},
		{"wrong types", `{"code":1,"message":["x"],"http_status":"404","retryable":"yes"}`, `{"code":"internal_error","message":"{\"code\":1,\"message\":[\"x\"],\"http_status\":\"404\",\"retryable\":\"yes\"}","source":"tool","retryable":false}`},
		{"http status out of range", `{"code":"c","message":"m","http_status":7}`, `{"code":"c","message":"m","source":"tool","retryable":false}`},
		{"malformed object", `{"code":`, `{"code":"error_not_serializable","message":"the error is not JSON","source":"tool","retryable":false}`},
		{"malformed string", `"abc`, `{"code":"error_not_serializable","message":"the error is not JSON","source":"tool","retryable":false}`},
		{"malformed array", `[`, `{"code":"error_not_serializable","message":"the error is not JSON","source":"tool","retryable":false}`},
		{"no JSON", `?`, `{"code":"error_not_serializable","message":"the error is not JSON","source":"tool","retryable":false}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := utp.NormalizeError([]byte(tt.raw), utp.CodeInternalError, utp.SourceTool)
			if tt.want == "" {
				if got != nil {
					t.Fatalf("got %+v, want nil", got)
				}
				return
			}
			raw, err := json.Marshal(got)
			if err != nil || string(raw) != tt.want {
				t.Errorf("got %s, %v\nwant %s", raw, err, tt.want)
			}
		})
	}
}

func TestCodes(t *testing.T) {
	t.Parallel()
	all := utp.Codes()
	if len(all) < 40 {
		t.Fatalf("only %d codes", len(all))
	}
	for _, c := range all {
		if !c.Known() || c.HTTPStatus() < 400 || c.HTTPStatus() > 599 {
			t.Errorf("%s: known %v, status %d", c, c.Known(), c.HTTPStatus())
		}
	}
	// What a person or a policy refused is not to be asked again and again.
	for _, c := range []utp.Code{
		utp.CodeConsentDeclined, utp.CodeConsentExpired, utp.CodeConsentWithdrawn, utp.CodeConsentStale, utp.CodeDeniedByPolicy, utp.CodeStopped,
	} {
		if c.Retryable() {
			t.Errorf("%s is retryable", c)
		}
	}
	// After these something may have happened.
	for _, c := range []utp.Code{
		utp.CodeOutcomeUnknown, utp.CodeToolTimeout, utp.CodeInternalError, utp.CodeUpstreamUnavailable, utp.CodeStopped, utp.CodeStorageError, "novel",
	} {
		if c.SafeToRetry() {
			t.Errorf("%s is safe to retry", c)
		}
	}
	for _, c := range []utp.Code{utp.CodeBusy, utp.CodeAgentBusy, utp.CodeInboxNotEmpty} {
		if !c.Retryable() || !c.SafeToRetry() {
			t.Errorf("%s: retryable %v, safe %v", c, c.Retryable(), c.SafeToRetry())
		}
	}
	if novel := utp.Code("novel"); novel.Known() || novel.Retryable() || novel.HTTPStatus() != 500 {
		t.Error("an unknown code is not taken with caution")
	}
}
