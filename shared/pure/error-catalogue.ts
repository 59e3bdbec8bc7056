/** Every error code a client can receive, with its HTTP status and default message. The OpenAPI document lists it. */
export const ERROR_CATALOGUE = {
  BAD_REQUEST: { status: 400, message: 'The request cannot be carried out in its present state' },
  INVALID_API_KEY: { status: 401, message: 'The API key is missing or not valid' },
  PROJECT_DISABLED: { status: 403, message: 'This project is disabled' },
  ROLE_REFUSED: { status: 403, message: 'The role of this key does not allow this' },
  /** The interface document fixes this code, with status 403, for a sender domain that is unknown or unverified. */
  SENDER_DOMAIN_REFUSED: {
    status: 403,
    message: 'The sender domain cannot be used',
    wireCode: 'INTERNAL_SERVER_ERROR',
  },
  RESOURCE_NOT_FOUND: { status: 404, message: 'Not found' },
  CONTACT_NOT_FOUND: { status: 404, message: 'Contact not found' },
  TEMPLATE_NOT_FOUND: { status: 404, message: 'Template not found' },
  CAMPAIGN_NOT_FOUND: { status: 404, message: 'Campaign not found' },
  SEGMENT_NOT_FOUND: { status: 404, message: 'Segment not found' },
  TOPIC_NOT_FOUND: { status: 404, message: 'Topic not found' },
  WORKFLOW_NOT_FOUND: { status: 404, message: 'Workflow not found' },
  EXECUTION_NOT_FOUND: { status: 404, message: 'Execution not found' },
  DOMAIN_NOT_FOUND: { status: 404, message: 'Domain not found' },
  JOB_NOT_FOUND: { status: 404, message: 'Job not found' },
  WEBHOOK_NOT_FOUND: { status: 404, message: 'Webhook endpoint not found' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This path does not accept this method' },
  REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time' },
  CONFLICT: { status: 409, message: 'The request conflicts with the current state' },
  IDEMPOTENCY_KEY_REUSED: { status: 409, message: 'This Idempotency-Key has already been used' },
  PAYLOAD_TOO_LARGE: { status: 413, message: 'The request body is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'The request body must be application/json' },
  VALIDATION_ERROR: { status: 422, message: 'Request validation failed' },
  HEADERS_TOO_LARGE: { status: 431, message: 'The request line and headers are too large' },
  RATE_LIMIT_EXCEEDED: { status: 429, message: 'Rate limit exceeded' },
  INTERNAL_SERVER_ERROR: { status: 500, message: 'An unexpected error occurred' },
  SERVICE_UNAVAILABLE: { status: 503, message: 'The service is temporarily unavailable, try again shortly' },
} as const satisfies Record<string, { status: number; message: string; wireCode?: string }>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;
