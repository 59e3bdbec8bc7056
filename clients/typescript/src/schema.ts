// Made by `npm run client-types` from the declarations of the endpoints; not edited by hand.

export interface paths {
    "/activity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What has happened in the project, newest first
         * @description What has happened in the project, newest first.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["listActivity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/activity/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What waits in the project, by kind, and for how long
         * @description Emails (transactional ones and those of automations), recipients of campaigns that are being sent, overdue executions, jobs, and work that has not been started yet. `GET /emails/:id` says why a single email waits.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["getQueue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/activity/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Totals, rates and a series of UTC days
         * @description Counts the last 30 days unless dates are given. Opened, clicked and bounced count each email once; `humanOpened` and `humanClicked` leave machines out. `complaintRates` are those of the last 7 days, whatever the dates. Rates are percent of what was sent in the period.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["getActivityStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who did what, newest first
         * @description Each writing request, action in the console and operator command, with its key, its outcome and the ids of what it was about. Sending, tracking and other calls that applications make by the thousand are not recorded.
         *
         *     Roles: full, read.
         */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List campaigns
         * @description List campaigns.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["listCampaigns"];
        put?: never;
        /**
         * Create a campaign as a draft
         * @description Create a campaign as a draft.
         *
         *     Roles: full, marketing.
         */
        post: operations["createCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a campaign
         * @description Get a campaign.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["getCampaign"];
        /**
         * Replace content and audience of a campaign that has not gone out
         * @description Replace content and audience of a campaign that has not gone out.
         *
         *     Roles: full, marketing.
         */
        put: operations["replaceCampaign"];
        post?: never;
        /**
         * Delete a campaign that is not scheduled or going out
         * @description Delete a campaign that is not scheduled or going out.
         *
         *     Roles: full, marketing.
         */
        delete: operations["deleteCampaign"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop a campaign that is scheduled or going out, for good
         * @description Stop a campaign that is scheduled or going out, for good.
         *
         *     Roles: full, marketing.
         */
        post: operations["cancelCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tell what would happen if a campaign were sent now
         * @description Counts its recipients as a send at this moment would, renders it for the first of them, and checks sender, size, links, placeholders and text. Changes nothing.
         *
         *     Roles: full, marketing, read.
         */
        post: operations["checkCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/continue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Continue a campaign whatever the rate of complaints is
         * @description A campaign is held while too many readers at a provider report emails of the project as spam; `waiting` says so.
         *
         *     Roles: full, marketing.
         */
        post: operations["continueCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/duplicate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Copy content and audience into a new draft
         * @description Copy content and audience into a new draft.
         *
         *     Roles: full, marketing.
         */
        post: operations["duplicateCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who sent, paused, resumed, resent or cancelled a campaign, newest first
         * @description Who sent, paused, resumed, resent or cancelled a campaign, newest first.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["getCampaignHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Which links of a campaign were clicked, and by how many
         * @description The fifty links that most people clicked. Clicks of machines are not counted.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["listCampaignLinks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a campaign that is going out
         * @description No further email is given to a server; deliveries under way are finished. Pausing a paused campaign changes nothing. A paused campaign can be cancelled.
         *
         *     Roles: full, marketing.
         */
        post: operations["pauseCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/publish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Show a campaign in the project's archive
         * @description The archive shows it to everybody as soon as it is SENT, rendered without a contact. Publishing it again changes nothing.
         *
         *     Roles: full, marketing.
         */
        post: operations["publishCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/recipients": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What became of each recipient
         * @description Each recipient is in one state at a time, so all states together are `totalRecipients`. The highest number comes first. With a state, a page may have fewer than `limit`: go on while `hasMore` is true. As CSV (`Accept: text/csv` or `format=csv`) all of them come in one answer.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["listCampaignRecipients"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send an ended campaign once more, to the recipients in some states
         * @description Sends once to each recipient who is in one of the states now, and to nobody else. Contacts that were deleted, have unsubscribed, paused or left the topic, and suppressed addresses, are left out and keep their state. The campaign is SENDING until all have their outcome. The counters have the last outcome of each recipient.
         *
         *     Roles: full, marketing.
         */
        post: operations["resendCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/resend/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tell how many would get a campaign if it were sent once more
         * @description Tell how many would get a campaign if it were sent once more.
         *
         *     Roles: full, marketing, read.
         */
        post: operations["checkResendCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let a paused campaign go on
         * @description The campaign goes on with the recipients that have no outcome yet. Resuming a campaign that is not paused changes nothing.
         *
         *     Roles: full, marketing.
         */
        post: operations["resumeCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/send": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a campaign now or later; a scheduled one gets the new time
         * @description Send a campaign now or later; a scheduled one gets the new time.
         *
         *     Roles: full, marketing.
         */
        post: operations["sendCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Counters and rates of a campaign, as of now
         * @description Counters and rates of a campaign, as of now.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["getCampaignStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test email of a campaign to one address
         * @description Send a test email of a campaign to one address.
         *
         *     Roles: full, marketing.
         */
        post: operations["testCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/unpublish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take a campaign out of the project's archive
         * @description Links of recipients to their own emails go on working.
         *
         *     Roles: full, marketing.
         */
        post: operations["unpublishCampaign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/campaigns/{id}/unreached": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Why a campaign did not reach some of its recipients, with counts
         * @description The fifty most frequent reasons. Words of servers that differ only in an address or an id are one reason. At most 200,000 recipients are read.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["listCampaignUnreached"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/contacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List contacts by cursor
         * @description List contacts by cursor.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["listContacts"];
        put?: never;
        /**
         * Create a contact, or update the one with this address
         * @description Create a contact, or update the one with this address.
         *
         *     Roles: full, marketing.
         */
        post: operations["upsertContact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/contacts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a contact
         * @description Get a contact.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["getContact"];
        put?: never;
        post?: never;
        /**
         * Delete a contact for good
         * @description Delete a contact for good.
         *
         *     Roles: full, marketing.
         */
        delete: operations["deleteContact"];
        options?: never;
        head?: never;
        /**
         * Change address, subscription, pause, topics or custom data of a contact
         * @description Change address, subscription, pause, topics or custom data of a contact.
         *
         *     Roles: full, marketing, support.
         */
        patch: operations["updateContact"];
        trace?: never;
    };
    "/contacts/{id}/consents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what a contact has consented to by cursor, newest first
         * @description One entry for each change of a subscription, of all marketing or of a topic, for each pause, and for each choice about tracking. A contact that was created as subscribed begins with an entry. Nothing changes an entry later; deleting the contact removes them.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["listContactConsents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/contacts/{id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Everything that is stored about a contact, as one JSON file
         * @description For the right of access and to data portability (GDPR, articles 15 and 20): the contact, its suppression, topics, segments, former addresses, opt-ins, consents, emails with their stored content, events, and executions with their steps.
         *
         *     Roles: full, support, read.
         */
        get: operations["exportContact"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/contacts/{id}/topics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List all topics as they hold for a contact
         * @description List all topics as they hold for a contact.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["getContactTopics"];
        /**
         * Change which topics a contact has
         * @description Topics that are left out stay as they are.
         *
         *     Roles: full, marketing, support.
         */
        put: operations["setContactTopics"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/contacts/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create or update up to 1,000 contacts
         * @description Each contact has the fields of POST /contacts and an outcome of its own: one that cannot be stored takes nothing from the others. Contacts with the same address are merged; a later one has precedence.
         *
         *     Roles: full, marketing.
         */
        post: operations["upsertContacts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/contacts/bulk-delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete up to 1000 contacts by id, in the background
         * @description Delete up to 1000 contacts by id, in the background.
         *
         *     Roles: full, marketing.
         */
        post: operations["bulkDeleteContacts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/contacts/bulk-subscribe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Subscribe up to 1000 contacts by id, in the background
         * @description Subscribe up to 1000 contacts by id, in the background.
         *
         *     Roles: full, marketing.
         */
        post: operations["bulkSubscribeContacts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/contacts/bulk-unsubscribe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Unsubscribe up to 1000 contacts by id, in the background
         * @description Unsubscribe up to 1000 contacts by id, in the background.
         *
         *     Roles: full, marketing.
         */
        post: operations["bulkUnsubscribeContacts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/contacts/bulk/{jobId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the progress of a bulk operation
         * @description Get the progress of a bulk operation.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["getBulkJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/contacts/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All contacts, or those of filters, as a file
         * @description In the order of their ids. `POST /contacts/import` takes the file with all columns as it is. The file is complete only when the answer ends without an error: after a fault on the way, and when the key ends or the project is disabled, the connection is cut. Rows that are written meanwhile may be in it or not; no other row is lost or comes twice.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["exportContacts"];
        put?: never;
        /**
         * Contacts as a file, with the filters in the body
         * @description As `GET /contacts/export`. A long condition fits into a body, and no address comes into the logs of proxies.
         *
         *     Roles: full, marketing, read.
         */
        post: operations["exportContactsByBody"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/contacts/fields": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List standard and custom fields with their types and coverage
         * @description List standard and custom fields with their types and coverage.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["listContactFields"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/contacts/fields/{field}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a custom field from every contact
         * @description Remove a custom field from every contact.
         *
         *     Roles: full, marketing.
         */
        delete: operations["deleteContactField"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/contacts/fields/{field}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Which segments, campaigns and workflows refer to a field
         * @description Which segments, campaigns and workflows refer to a field.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["getContactFieldUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/contacts/fields/{field}/values": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List distinct values of a field, the most frequent first
         * @description List distinct values of a field, the most frequent first.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["listContactFieldValues"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/contacts/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import contacts from a CSV file, in the background
         * @description With a header row, which is read at once: a column of addresses (`email`, `Email Address` …) is required, `subscribed`, `trackingAllowed` and `topic.<key>` are optional, and columns such as `status` or `unsubscribed_at` say who has left. Every other column is custom data, in which numbers, true, false and JSON are recognised. An empty cell changes nothing. Commas, semicolons or tabs; UTF-8 or UTF-16. Rows that cannot be stored are reported, the others are kept. A file of `GET /contacts/export` brings back everything, as CSV and as JSON lines. A value that leaves open who is subscribed fails the import before anything is stored.
         *
         *     Roles: full, marketing.
         */
        post: operations["importContacts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/contacts/import/{jobId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the progress of an import
         * @description Get the progress of an import.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["getImportJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/contacts/lookup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tell which addresses have a contact
         * @description Tell which addresses have a contact.
         *
         *     Roles: full, marketing, support, read.
         */
        post: operations["lookUpContacts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/contacts/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Find contacts, with the search in the body
         * @description As `GET /contacts`, with the filters in the body, so that no address comes into the logs of proxies.
         *
         *     Roles: full, marketing, support, read.
         */
        post: operations["searchContacts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/deliverability": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What providers make of our mail, by source and by day
         * @description What was offered, accepted, deferred, refused and reported as spam, and what a provider has against our mail now, in plain sentences. Sources carry the mail of all projects, so their numbers are shown to a project that is alone in the installation. With more projects, each sees what was counted of its own mail: the emails that were accepted and the complaints of the last days; the other numbers are null. At most 100 results, those with the most emails.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["getDeliverability"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add a sender domain
         * @description The answer has the DNS records to set up. They are looked up every five minutes; the domain is verified once the required ones are found.
         *
         *     Roles: full.
         */
        post: operations["createDomain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a sender domain and its key
         * @description Remove a sender domain and its key.
         *
         *     Roles: full.
         */
        delete: operations["deleteDomain"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/{id}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check the DNS records of a domain now
         * @description A verified domain falls back to pending when three checks in a row find a required record missing. A check that gets no answer from DNS changes nothing.
         *
         *     Roles: full.
         */
        get: operations["verifyDomain"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/domains/project/{projectId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sender domains of the project, verified and pending
         * @description List the sender domains of the project, verified and pending.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["listDomains"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/emails": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List emails by cursor, newest first
         * @description A page searches at most 3,000 emails: those of the contact, the address, the campaign, the template or the workflow, or else all of the project. When few of them fit the other filters, it has fewer than `limit`, or none: go on while `hasMore` is true.
         *
         *     Roles: full, send, marketing, support, read.
         */
        get: operations["listEmails"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/emails/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * An email, what happened to it, and why it waits
         * @description The timeline has the first fifty opens, clicks and reports of each kind.
         *
         *     Roles: full, send, marketing, support, read.
         */
        get: operations["getEmail"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Give a scheduled email another moment
         * @description A moment in the past sends it at once.
         *
         *     Roles: full, send.
         */
        patch: operations["rescheduleEmail"];
        trace?: never;
    };
    "/emails/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a scheduled email for good
         * @description Cancel a scheduled email for good.
         *
         *     Roles: full, send.
         */
        post: operations["cancelEmail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/emails/{id}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What an email says: HTML, text, headers and source
         * @description An email is 404 whose content is not kept any more (`RETENTION_EMAIL_CONTENT_DAYS`), or whose contact was deleted.
         *
         *     Roles: full, send, marketing, support, read.
         */
        get: operations["getEmailContent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/emails/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The requests to webhooks about an email, the latest first
         * @description At most 100. A request with several events is listed when its first event is about the email.
         *
         *     Roles: full, read.
         */
        get: operations["listEmailDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/emails/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All emails, or those of filters, as a file, newest first
         * @description With the filters of the list. The file is complete only when the answer ends without an error: after a fault on the way, and when the key ends or the project is disabled, the connection is cut. Rows that are written meanwhile may be in it or not; no other row is lost or comes twice.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["exportEmails"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/emails/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Find emails, with the address in the body
         * @description As `GET /emails`, with the filters in the body, so that no address comes into the logs of proxies.
         *
         *     Roles: full, send, marketing, support, read.
         */
        post: operations["searchEmails"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List recent events by cursor, newest first
         * @description List recent events by cursor, newest first.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/{eventName}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete every event of a name
         * @description Delete every event of a name.
         *
         *     Roles: full, marketing.
         */
        delete: operations["deleteEvents"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/{eventName}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Where an event name is used
         * @description Where an event name is used.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["getEventUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/contact/{contactId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the events of a contact by cursor, newest first
         * @description List the events of a contact by cursor, newest first.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["listContactEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All events, or those of filters, as a file, newest first
         * @description The file is complete only when the answer ends without an error: after a fault on the way, and when the key ends or the project is disabled, the connection is cut. Rows that are written meanwhile may be in it or not; no other row is lost or comes twice.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["exportEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/names": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the distinct event names
         * @description List the distinct event names.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["listEventNames"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count events by name
         * @description Count events by name.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["getEventStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events/track": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Track an event with the secret key
         * @description Takes the body of POST /v1/track, or a `name` with or without a `contactId`. With a `name`, `data` is kept with the event alone.
         *
         *     Roles: full, marketing.
         */
        post: operations["recordEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/find": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Find records by id, by name, or by part of an address
         * @description An id finds the record of any kind. Another text finds contacts with it in their address or name, and campaigns, workflows, templates, segments and webhooks with it in their name. A key for support finds contacts, emails, executions and segments.
         *
         *     Roles: full, marketing, support, read.
         */
        post: operations["findRecords"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the keys of the project, oldest first
         * @description List the keys of the project, oldest first.
         *
         *     Roles: full, read.
         */
        get: operations["listKeys"];
        put?: never;
        /**
         * Create a key
         * @description The answer shows the key once; only its hash is stored. Several keys with the same role may work at a time, so a key can be replaced without an interruption.
         *
         *     Roles: full.
         */
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a key, without the key itself
         * @description Get a key, without the key itself.
         *
         *     Roles: full, read.
         */
        get: operations["getKey"];
        put?: never;
        post?: never;
        /**
         * End a key: it is refused from now on, everywhere
         * @description A full key ends any key, and every other key of a server ends itself. The full key that works longest cannot be ended here.
         *
         *     Roles: full, send, marketing, support, read.
         */
        delete: operations["endKey"];
        options?: never;
        head?: never;
        /**
         * Change the name, the end or the sender domains of a key
         * @description A full key gets an earlier end only when another full key works as long as it would.
         *
         *     Roles: full.
         */
        patch: operations["updateKey"];
        trace?: never;
    };
    "/segments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List all segments, newest first
         * @description List all segments, newest first.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["listSegments"];
        put?: never;
        /**
         * Create a segment
         * @description Create a segment.
         *
         *     Roles: full, marketing.
         */
        post: operations["createSegment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/segments/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a segment with its cached member count
         * @description Get a segment with its cached member count.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["getSegment"];
        put?: never;
        post?: never;
        /**
         * Delete a segment; its contacts stay
         * @description Delete a segment; its contacts stay.
         *
         *     Roles: full, marketing.
         */
        delete: operations["deleteSegment"];
        options?: never;
        head?: never;
        /**
         * Change the given fields of a segment
         * @description Change the given fields of a segment.
         *
         *     Roles: full, marketing.
         */
        patch: operations["updateSegment"];
        trace?: never;
    };
    "/segments/{id}/compute": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Recompute the members of a tracked dynamic segment
         * @description Emits segment.<slug>.entry and segment.<slug>.exit for every contact that joins or leaves.
         *
         *     Roles: full, marketing.
         */
        post: operations["computeSegment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/segments/{id}/contacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the contacts of a segment by page; a dynamic segment is evaluated now
         * @description List the contacts of a segment by page; a dynamic segment is evaluated now.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["listSegmentContacts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/segments/{id}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add contacts to a static segment by address
         * @description Add contacts to a static segment by address.
         *
         *     Roles: full, marketing.
         */
        post: operations["addSegmentMembers"];
        /**
         * Remove contacts from a static segment by address
         * @description Remove contacts from a static segment by address.
         *
         *     Roles: full, marketing.
         */
        delete: operations["removeSegmentMembers"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/segments/{id}/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Count the contacts of a segment now; no members and no events change
         * @description Count the contacts of a segment now; no members and no events change.
         *
         *     Roles: full, marketing.
         */
        post: operations["refreshSegment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/suppressions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List addresses that get no email, newest first
         * @description With a reason, a page may have fewer than `limit`: go on while `hasMore` is true. As CSV (`Accept: text/csv` or `format=csv`) all of them come in one answer.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["listSuppressions"];
        put?: never;
        /**
         * Suppress addresses by hand
         * @description They get no email of any kind, transactional email included. Contacts stay as they are.
         *
         *     Roles: full, support.
         */
        post: operations["addSuppressions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/suppressions/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Let an address get email again
         * @description Its contact stays unsubscribed until it subscribes itself.
         *
         *     Roles: full, support.
         */
        delete: operations["removeSuppression"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/suppressions/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Suppress the addresses of a CSV file
         * @description With a header row: a column of addresses (`email`, `Email Address` …) is required, `words` says why; every other column is ignored, so an exported table can be imported. Rows that cannot be stored are reported, the others are kept; the same file may be sent again.
         *
         *     Roles: full, support.
         */
        post: operations["importSuppressions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/suppressions/remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Let an address in the body get email again
         * @description As `DELETE /suppressions/:address`, without the address in the URL, which proxies write to their logs.
         *
         *     Roles: full, support.
         */
        post: operations["removeSuppressionByBody"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/suppressions/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Find suppressed addresses, with the address in the body
         * @description As `GET /suppressions`, with the filters in the body, so that no address comes into the logs of proxies.
         *
         *     Roles: full, marketing, support, read.
         */
        post: operations["searchSuppressions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/suppressions/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo what hard bounces have done to contacts
         * @description Subscribes the contacts again that lost their subscription by one of the selected hard bounces, and lifts the suppressions it brought. Contacts that were unsubscribed by a link, the API or a complaint, before or since, stay as they are. Can be repeated.
         *
         *     Roles: full, support.
         */
        post: operations["undoBounces"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/templates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List templates by page
         * @description List templates by page.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["listTemplates"];
        put?: never;
        /**
         * Create a template
         * @description Create a template.
         *
         *     Roles: full, marketing.
         */
        post: operations["createTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/templates/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a template
         * @description Get a template.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["getTemplate"];
        put?: never;
        post?: never;
        /**
         * Delete a template; emails already sent stay on record
         * @description Delete a template; emails already sent stay on record.
         *
         *     Roles: full, marketing.
         */
        delete: operations["deleteTemplate"];
        options?: never;
        head?: never;
        /**
         * Change the given fields of a template
         * @description Change the given fields of a template.
         *
         *     Roles: full, marketing.
         */
        patch: operations["updateTemplate"];
        trace?: never;
    };
    "/templates/{id}/duplicate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Copy a template
         * @description Copy a template.
         *
         *     Roles: full, marketing.
         */
        post: operations["duplicateTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/templates/{id}/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Render a template for a recipient with this data; nothing is sent or stored
         * @description Render a template for a recipient with this data; nothing is sent or stored.
         *
         *     Roles: full, marketing, read.
         */
        post: operations["previewTemplate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/templates/{id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Where a template is used
         * @description Campaigns have content of their own, so none refers to a template.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["getTemplateUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/topics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List topics by page
         * @description List topics by page.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["listTopics"];
        put?: never;
        /**
         * Create a topic
         * @description Create a topic.
         *
         *     Roles: full, marketing.
         */
        post: operations["createTopic"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/topics/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a topic
         * @description Get a topic.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["getTopic"];
        put?: never;
        post?: never;
        /**
         * Delete a topic with the choices about it; the record of consent stays
         * @description Refused while a template, a step, a segment, or a campaign that has not ended uses it.
         *
         *     Roles: full, marketing.
         */
        delete: operations["deleteTopic"];
        options?: never;
        head?: never;
        /**
         * Change the given fields of a topic
         * @description `key` and `defaultSubscription` never change; they may be sent as they are.
         *
         *     Roles: full, marketing.
         */
        patch: operations["updateTopic"];
        trace?: never;
    };
    "/topics/{id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Where a topic is used, and how many contacts have it
         * @description Where a topic is used, and how many contacts have it.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["getTopicUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/@me/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The project that the key belongs to, and the key
         * @description The project that the key belongs to, and the key.
         *
         *     Roles: full, send, marketing, support, read.
         */
        get: operations["listProjects"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/users/@me/projects/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change what recipients see of the project, what its public key may do, and what is kept
         * @description Names, address, logo and language are shown in the footer of MARKETING email and on the pages to unsubscribe. `publicKeyRules`, `doubleOptIn` and `trafficRules` are replaced as a whole. null removes a setting.
         *
         *     Roles: full.
         */
        patch: operations["updateProject"];
        trace?: never;
    };
    "/users/@me/projects/{id}/regenerate-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the two keys that come with the project; the old ones stop working at once
         * @description Keys of `POST /keys` stay as they are.
         *
         *     Roles: full.
         */
        post: operations["regenerateProjectKeys"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/send": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a transactional email to one or many recipients
         * @description Creates or updates the contact of each recipient. The email is stored for delivery before the answer.
         *
         *     Roles: full, send.
         */
        post: operations["sendEmail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/send/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send up to 100 different emails in one request
         * @description Each email has the fields of POST /v1/send and an outcome of its own. Those that are accepted are stored together, so a repetition with the same Idempotency-Key sends none of them again. Emails with attachments go by themselves.
         *
         *     Roles: full, send.
         */
        post: operations["sendBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscribe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask for newsletters, as the form of a page does
         * @description The person gets an email with a link, and is subscribed when they confirm. The answer is the same for every address. A plain HTML form may send the same fields as application/x-www-form-urlencoded or multipart/form-data to `/v1/subscribe?key=<public key>`; it is answered with a page, or with a redirect to `redirectUrl`.
         *
         *     Roles: track.
         */
        post: operations["subscribe"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/track": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Track an event of a contact
         * @description Creates or updates the contact, then records the event.
         *
         *     Roles: track.
         */
        post: operations["track"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify an address before an email is sent to it
         * @description Checks the format, and the domain in DNS. No email is sent. Answers within five seconds.
         *
         *     Roles: full, send, marketing.
         */
        post: operations["verifyEmail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List all webhook endpoints, newest first
         * @description List all webhook endpoints, newest first.
         *
         *     Roles: full, read.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Have events sent to a URL, signed as the Standard Webhooks specification says
         * @description Have events sent to a URL, signed as the Standard Webhooks specification says.
         *
         *     Roles: full.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a webhook endpoint
         * @description Get a webhook endpoint.
         *
         *     Roles: full, read.
         */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook endpoint with the log of its deliveries
         * @description Delete a webhook endpoint with the log of its deliveries.
         *
         *     Roles: full.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Change the given fields of an endpoint; it is tried again at once
         * @description An endpoint that is enabled again goes on where it stopped.
         *
         *     Roles: full.
         */
        patch: operations["updateWebhook"];
        trace?: never;
    };
    "/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what an endpoint was sent, and what it answered, newest event first
         * @description List what an endpoint was sent, and what it answered, newest event first.
         *
         *     Roles: full, read.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/deliveries/{deliveryId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show what an endpoint was sent with one delivery, and what it answered
         * @description Show what an endpoint was sent with one delivery, and what it answered.
         *
         *     Roles: full, read.
         */
        get: operations["getWebhookDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Deliver all events since a moment or an event once more
         * @description Each event comes with the `webhook-id` it had, so a receiver can tell which it has had already.
         *
         *     Roles: full.
         */
        post: operations["replayWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the secret of an endpoint; for a day, or `overlapHours`, requests are signed with both
         * @description Replace the secret of an endpoint; for a day, or `overlapHours`, requests are signed with both.
         *
         *     Roles: full.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event (`webhook.test`) to an endpoint, whatever events it takes
         * @description Send a test event (`webhook.test`) to an endpoint, whatever events it takes.
         *
         *     Roles: full.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List workflows by page
         * @description List workflows by page.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["listWorkflows"];
        put?: never;
        /**
         * Create a workflow, disabled, with its TRIGGER step
         * @description Create a workflow, disabled, with its TRIGGER step.
         *
         *     Roles: full, marketing.
         */
        post: operations["createWorkflow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a workflow with its steps and transitions
         * @description Get a workflow with its steps and transitions.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["getWorkflow"];
        put?: never;
        post?: never;
        /**
         * Delete a workflow that has no active executions
         * @description Delete a workflow that has no active executions.
         *
         *     Roles: full, marketing.
         */
        delete: operations["deleteWorkflow"];
        options?: never;
        head?: never;
        /**
         * Change the given fields of a workflow
         * @description Setting `enabled` checks the workflow as a whole; `details.problems` lists what keeps it from running.
         *
         *     Roles: full, marketing.
         */
        patch: operations["updateWorkflow"];
        trace?: never;
    };
    "/workflows/{id}/executions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the executions of a workflow by page, newest first
         * @description List the executions of a workflow by page, newest first.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["listWorkflowExecutions"];
        put?: never;
        /**
         * Start a workflow for a contact by hand
         * @description Start a workflow for a contact by hand.
         *
         *     Roles: full, marketing.
         */
        post: operations["startWorkflowExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{id}/executions/{executionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an execution with what became of each step
         * @description Get an execution with what became of each step.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["getWorkflowExecution"];
        put?: never;
        post?: never;
        /**
         * Cancel an execution that is running or waiting
         * @description Cancel an execution that is running or waiting.
         *
         *     Roles: full, marketing.
         */
        delete: operations["cancelWorkflowExecution"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{id}/executions/{executionId}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have a failed execution go on at the step that failed
         * @description It keeps its context and the steps that it started with, except that the failed step has the config that the workflow has now. Steps before it are not repeated. 409 when the execution is not FAILED, when its contact was deleted, or while the contact is in the workflow with another execution.
         *
         *     Roles: full, marketing.
         */
        post: operations["retryWorkflowExecution"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{id}/executions/cancel-all": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel every active execution of a workflow
         * @description Cancel every active execution of a workflow.
         *
         *     Roles: full, marketing.
         */
        post: operations["cancelAllWorkflowExecutions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{id}/executions/counts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How many executions run, wait or have failed at each step
         * @description How many executions run, wait or have failed at each step.
         *
         *     Roles: full, marketing, support, read.
         */
        get: operations["countWorkflowExecutions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{id}/executions/retry-failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Have all failed executions of a workflow, or of one step, go on
         * @description A job does it, as for a single one. Executions that cannot go on stay FAILED: those whose contact was deleted or is in the workflow with another execution. Of several failed ones of a contact the newest goes on.
         *
         *     Roles: full, marketing.
         */
        post: operations["retryFailedWorkflowExecutions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{id}/steps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add a step
         * @description Add a step.
         *
         *     Roles: full, marketing.
         */
        post: operations["addWorkflowStep"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{id}/steps/{stepId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a step and its transitions
         * @description With `splice=true`, the steps before it get transitions to the step after it.
         *
         *     Roles: full, marketing.
         */
        delete: operations["removeWorkflowStep"];
        options?: never;
        head?: never;
        /**
         * Change the given fields of a step; its config is replaced as a whole
         * @description Executions that have started keep the steps they started with.
         *
         *     Roles: full, marketing.
         */
        patch: operations["updateWorkflowStep"];
        trace?: never;
    };
    "/workflows/{id}/transitions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add a transition from one step to another
         * @description Add a transition from one step to another.
         *
         *     Roles: full, marketing.
         */
        post: operations["addWorkflowTransition"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/{id}/transitions/{transitionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a transition
         * @description Delete a transition.
         *
         *     Roles: full, marketing.
         */
        delete: operations["removeWorkflowTransition"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workflows/fields": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the fields that a CONDITION step can read
         * @description Fields of the contact, which are those of a segment filter, and the keys seen in recent events as `event.<key>`.
         *
         *     Roles: full, marketing, read.
         */
        get: operations["listWorkflowFields"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description An email that was accepted, and its recipient */
        AcceptedEmail: {
            /** @description The contact; null when it has been deleted */
            contact: components["schemas"]["ContactReference"];
            /**
             * Format: uuid
             * @description The id of the email; its events have it as `emailId`
             */
            email: string;
        };
        /** @description Something that happened in the project */
        Activity: {
            /** @description The address of the contact */
            contactEmail: string | null;
            /** @description The contact */
            contactId: string | null;
            /** @description The id of the entry, which differs from that of the record behind it */
            id: string;
            /** @description More about it; the keys depend on the type */
            metadata: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When it was
             */
            timestamp: string;
            /**
             * @description The kind
             * @enum {string}
             */
            type: "event.triggered" | "email.sent" | "email.delivered" | "email.opened" | "email.clicked" | "email.bounced" | "email.complaint" | "email.received" | "email.suppressed" | "email.failed" | "contact.subscribed" | "contact.unsubscribed" | "contact.paused" | "contact.resumed" | "topic.subscribed" | "topic.unsubscribed" | "campaign.scheduled" | "campaign.sent" | "workflow.started" | "workflow.completed" | "workflow.refused";
        };
        /** @description The counters of a day in UTC */
        ActivityDay: {
            /** @description Emails that bounced */
            bounced: number;
            /** @description Emails in which a link was clicked */
            clicked: number;
            /** @description Emails that were reported as spam */
            complaints: number;
            /**
             * Format: date
             * @description The day, in UTC
             */
            date: string;
            /** @description Emails that a server accepted */
            delivered: number;
            /** @description Events that were recorded */
            events: number;
            /** @description Emails in which a person clicked a link; machines are left out */
            humanClicked: number;
            /** @description Emails that a person opened; machines are left out */
            humanOpened: number;
            /** @description Emails that were opened */
            opened: number;
            /** @description Emails that were sent */
            sent: number;
            /** @description Executions that have begun */
            workflowsStarted: number;
        };
        /** @description Percent of what was sent */
        ActivityRates: {
            /** @description Percent that bounced */
            bounceRate: number;
            /** @description Percent in which a link was clicked */
            clickRate: number;
            /** @description Percent that were reported as spam */
            complaintRate: number;
            /** @description Percent that a server accepted */
            deliveryRate: number;
            /** @description Percent in which a person clicked a link */
            humanClickRate: number;
            /** @description Percent that a person opened */
            humanOpenRate: number;
            /** @description Percent that were opened */
            openRate: number;
        };
        /** @description Figures of a period */
        ActivityStats: {
            /** @description by provider of recipients, percent of what was sent to it; the 50 with the most complaints or emails */
            complaintRates: components["schemas"]["ProviderComplaints"][];
            /** @description Percent of what was sent */
            rates: components["schemas"]["ActivityRates"];
            /** @description The counters of each day */
            series: components["schemas"]["ActivityDay"][];
            /** @description The counters of the whole period */
            totals: components["schemas"]["ActivityTotals"];
        };
        /** @description The counters of a period */
        ActivityTotals: {
            /** @description Emails that bounced */
            bounced: number;
            /** @description Emails in which a link was clicked */
            clicked: number;
            /** @description Emails that were reported as spam */
            complaints: number;
            /** @description Emails that a server accepted */
            delivered: number;
            /** @description Events that were recorded */
            events: number;
            /** @description Emails in which a person clicked a link; machines are left out */
            humanClicked: number;
            /** @description Emails that a person opened; machines are left out */
            humanOpened: number;
            /** @description Emails that were opened */
            opened: number;
            /** @description Emails that were sent */
            sent: number;
            /** @description Executions that have begun */
            workflowsStarted: number;
        };
        /** @description An address with a name */
        Address: {
            /**
             * Format: email
             * @description The address
             */
            email: string;
            /**
             * @description The name shown beside the address
             * @example Ada Lovelace
             */
            name?: string;
        };
        /** @description What is known of an address */
        AddressVerification: {
            /** @description DNS has name servers for the domain */
            domainExists: boolean;
            /** @description The email address */
            email: string;
            /** @description A null MX (RFC 7505) counts as none */
            hasMxRecords: boolean;
            /** @description The domain has A or AAAA records; informational */
            hasWebsite: boolean;
            /** @description The domain belongs to a service that forwards mail */
            isAlias: boolean;
            /** @description The domain belongs to a service for disposable addresses */
            isDisposable: boolean;
            /** @description The domain belongs to a mailbox provider that anybody can use */
            isPersonalEmail: boolean;
            /** @description Whether the part before the @ has a + */
            isPlusAddressed: boolean;
            /** @description The domain is probably misspelt */
            isTypo: boolean;
            /** @description The reasons for the result, in words */
            reasons: string[];
            /**
             * @description Present when a typo is detected
             * @example ada@example.com
             */
            suggestedEmail?: string;
            /** @description Whether email to the domain can be delivered */
            valid: boolean;
        };
        /** @description The body of addSegmentMembers */
        AddSegmentMembersRequest: {
            /**
             * @description Create contacts for addresses without one
             * @default false
             */
            createMissing?: boolean;
            /** @description The emails */
            emails: string[];
            /**
             * @description Whether contacts created here are subscribed
             * @default true
             */
            subscribed?: boolean;
        };
        /** @description How many joined, and addresses without a contact */
        AddSegmentMembersResponse: {
            /** @description How many were added */
            added: number;
            /** @description How many contacts were created */
            created: number;
            /** @description Addresses that have no contact */
            notFound: string[];
        };
        /** @description The body of addSuppressions */
        AddSuppressionsRequest: {
            /** @description The emails */
            emails: string[];
            /**
             * @description Why, for people
             * @example asked by telephone
             */
            words?: string;
        };
        /** @description How many were added */
        AddSuppressionsResponse: {
            /** @description How many were added */
            added: number;
            /** @description addresses that were suppressed already and keep their reason */
            present: number;
        };
        /** @description The body of addWorkflowStep */
        AddWorkflowStepRequest: components["schemas"]["NewSendEmailStep"] | components["schemas"]["NewDelayStep"] | components["schemas"]["NewWaitForEventStep"] | components["schemas"]["NewConditionStep"] | components["schemas"]["NewWebhookStep"] | components["schemas"]["NewUpdateContactStep"] | components["schemas"]["NewExitStep"];
        /** @description The body of addWorkflowTransition */
        AddWorkflowTransitionRequest: {
            /** @description yes or no from CONDITION, event or timeout from WAIT_FOR_EVENT */
            branch?: ("yes" | "no" | "event" | "timeout") | null;
            /** @description Another place for branch */
            condition?: components["schemas"]["BranchCondition"] | null;
            /**
             * Format: uuid
             * @description The step that it leaves
             */
            fromStepId: string;
            /**
             * Format: uuid
             * @description The step that it leads to
             */
            toStepId: string;
        };
        /** @description A file of an email */
        Attachment: {
            /** @description base64 */
            content: string;
            /** @description The name by which the body refers to it as `cid:<contentId>`; required for inline */
            contentId?: string;
            /** @description The MIME type */
            contentType: string;
            /**
             * @description A file of its own, or a part that the body shows
             * @default attachment
             * @enum {string}
             */
            disposition?: "attachment" | "inline";
            /** @description The name of the file */
            filename: string;
        };
        /** @description Who did what */
        AuditEntry: {
            /**
             * @description A request with a key, the console with a key, or an operator command
             * @enum {string}
             */
            actor: "key" | "console" | "operator";
            /**
             * Format: date-time
             * @description When it happened
             */
            at: string;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description The key; null for an operator command */
            keyId: string | null;
            /**
             * @description The name that the key had
             * @example Shop server
             */
            keyName: string | null;
            /**
             * @description The operation of this document, or the command
             * @example createKey
             */
            operation: string;
            /**
             * @description done, refused (4xx) or failed (5xx)
             * @enum {string}
             */
            outcome: "done" | "refused" | "failed";
            /** @description The X-Request-ID of the request */
            requestId: string | null;
            /** @description The HTTP status of the answer; commands have the one that fits */
            status: number;
            /** @description The ids of what it was about */
            subjectIds: string[];
        };
        /** @description What is wrong */
        BadRequestError: {
            /**
             * @description What is wrong, for programs
             * @enum {string}
             */
            code: "BAD_REQUEST";
            /**
             * @description More about it, for programs
             * @example {
             *       "field": "status"
             *     }
             */
            details?: {
                [key: string]: unknown;
            };
            /** @description The faulty fields */
            errors?: components["schemas"]["FieldError"][];
            /**
             * @description What is wrong, for people
             * @example The request cannot be carried out in its present state
             */
            message: string;
            /** @description The same as in the header X-Request-ID */
            requestId: string;
            /**
             * @description The HTTP status
             * @constant
             */
            statusCode: 400;
            /**
             * @description What to do about it
             * @example Check the key
             */
            suggestion?: string;
        };
        /** @description The answer with status 400 */
        BadRequestResponse: {
            /** @description What went wrong; null when nothing did */
            error: components["schemas"]["BadRequestError"];
            /**
             * @description Always false
             * @constant
             */
            success: false;
            /**
             * Format: date-time
             * @description When it was answered
             */
            timestamp: string;
        };
        /** @description An email of a batch, as in POST /v1/send */
        BatchEmail: {
            /** @description Files of the email */
            attachments?: components["schemas"]["Attachment"][];
            /** @description Recipients of the same message whom nobody sees */
            bcc?: (string | components["schemas"]["Address"]) | (string | components["schemas"]["Address"])[];
            /** @description The content, as HTML with {{placeholders}} */
            body?: string;
            /** @description Recipients of the same message, whom all see */
            cc?: (string | components["schemas"]["Address"]) | (string | components["schemas"]["Address"])[];
            /** @description Patched key by key; null deletes a key */
            data?: {
                [key: string]: unknown;
            };
            /** @description The sender address; its domain must be verified */
            from?: string | components["schemas"]["SenderAddress"];
            /** @description Headers of the email, by name */
            headers?: {
                [key: string]: string;
            };
            /**
             * @deprecated
             * @description Use from: { name, email }
             * @example Ada Lovelace
             */
            name?: string;
            /** @description What lists of emails show beside the subject; it may hold {{placeholders}} */
            preheader?: string;
            /**
             * Format: email
             * @description The address for replies
             */
            reply?: string;
            /**
             * Format: date-time
             * @description When a scheduled email is due
             */
            scheduledAt?: string;
            /** @description The subject; it may hold {{placeholders}} */
            subject?: string;
            /** @description Whether the contact gets marketing email */
            subscribed?: boolean;
            /** @description Words by which the email is found */
            tags?: string[];
            /**
             * Format: uuid
             * @description The template
             */
            template?: string;
            /** @description A text/plain part of your own; without one, it is made from the body. It may hold {{placeholders}} */
            text?: string;
            /** @description The recipient */
            to?: (string | components["schemas"]["Address"]) | (string | components["schemas"]["Address"])[];
        };
        /** @description Whether an email of a batch was accepted */
        BatchOutcome: {
            /** @description One for each recipient, in their order: those of `to`, `cc`, then `bcc` */
            emails?: components["schemas"]["AcceptedEmail"][];
            /** @description What went wrong; null when nothing did */
            error?: components["schemas"]["RefusedEmail"];
            /** @description Always true */
            success: boolean;
        };
        /** @description Another place for branch */
        BranchCondition: {
            /** @description The branch of the step; null where the step has only one */
            branch?: ("yes" | "no" | "event" | "timeout") | null;
        };
        /** @description A contact of a request, as in POST /contacts */
        BulkContact: {
            /** @description Patched key by key; null deletes a key */
            data?: {
                [key: string]: unknown;
            };
            /**
             * Format: email
             * @description The email address
             */
            email: string;
            /** @description New contacts: true when omitted */
            subscribed?: boolean;
            /** @description Topics to join (true) or leave (false), by their keys; null returns to the default of the topic */
            topics?: {
                [key: string]: boolean | null;
            };
            /**
             * @description Whether the contact agrees that opens and clicks are recorded; projects of the mode CONSENTED ask for it
             * @example true
             */
            trackingAllowed?: boolean;
        };
        /** @description What is wrong with a field of a contact */
        BulkContactFault: {
            /**
             * @description As in the error envelope
             * @example unknown_topic
             */
            code: string;
            /**
             * @description The name of the field
             * @example topics.news
             */
            field: string;
            /** @description What has happened, for people */
            message: string;
        };
        /** @description What became of a contact of a request */
        BulkContactOutcome: {
            /** @description The address, as it is stored if it is one */
            email: string | null;
            /** @description Of an error: what is wrong, field by field */
            errors?: components["schemas"]["BulkContactFault"][];
            /**
             * @description The id of the contact; null for an error
             * @example 0198c0de-0000-7000-8000-000000000001
             */
            id: string | null;
            /**
             * @description What became of it; nothing was stored of an error
             * @enum {string}
             */
            outcome: "created" | "updated" | "unchanged" | "error";
        };
        /** @description The body of bulkDeleteContacts */
        BulkDeleteContactsRequest: {
            /** @description The ids of the contacts; required */
            contactIds?: string[];
            /** @description Another name for `contactIds` */
            ids?: string[];
            /**
             * @description How contacts are selected: only by id
             * @constant
             */
            mode?: "ids";
        };
        /** @description A contact that was not changed */
        BulkError: {
            /**
             * @description The contact
             * @example 0198c0de-0000-7000-8000-000000000001
             */
            contactId: string;
            /** @description What went wrong; null when nothing did */
            error: string;
        };
        /** @description An operation on many contacts */
        BulkJob: {
            /** @description Why the job has failed; null when it has not */
            failedReason: string | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description Percent of the work that is done */
            progress: number;
            /** @description What the job has done; null while it has not ended */
            result: components["schemas"]["BulkResult"] | null;
            /**
             * @description What has become of it
             * @enum {string}
             */
            state: "waiting" | "active" | "completed" | "failed";
        };
        /** @description What a bulk operation has done */
        BulkResult: {
            /** @description The first 100 */
            errors: components["schemas"]["BulkError"][];
            /** @description How many could not be done */
            failureCount: number;
            /** @description What the job does */
            operation: string;
            /** @description How many were changed */
            successCount: number;
            /** @description How many contacts were named */
            totalRequested: number;
            /** @description How many needed no change */
            unchangedCount: number;
        };
        /** @description The body of bulkSubscribeContacts */
        BulkSubscribeContactsRequest: {
            /** @description The ids of the contacts; required */
            contactIds?: string[];
            /** @description Another name for `contactIds` */
            ids?: string[];
            /**
             * @description How contacts are selected: only by id
             * @constant
             */
            mode?: "ids";
            /** @description The topic that the contacts join or leave; all marketing when left out */
            topicId?: string | null;
        };
        /** @description The body of bulkUnsubscribeContacts */
        BulkUnsubscribeContactsRequest: {
            /** @description The ids of the contacts; required */
            contactIds?: string[];
            /** @description Another name for `contactIds` */
            ids?: string[];
            /**
             * @description How contacts are selected: only by id
             * @constant
             */
            mode?: "ids";
            /** @description The topic that the contacts join or leave; all marketing when left out */
            topicId?: string | null;
        };
        /** @description One email to many contacts */
        Campaign: {
            /** @description The filter that selects the recipients; for FILTERED */
            audienceCondition: components["schemas"]["FilterCondition"] | null;
            /**
             * @description Who gets it: every contact, a segment, or those that fit a filter
             * @enum {string}
             */
            audienceType: "ALL" | "SEGMENT" | "FILTERED";
            /** @description The content, as HTML with {{placeholders}} */
            body: string;
            /** @description Emails that bounced */
            bouncedCount: number;
            /** @description Emails in which a link was clicked */
            clickedCount: number;
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description Emails that a server accepted */
            deliveredCount: number;
            /** @description A note for yourself; recipients do not see it */
            description: string | null;
            /** @description why a campaign that nobody cancelled could not go on, and what to do */
            error: string | null;
            /**
             * @description The sender address; its domain must be verified
             * @example ada@example.com
             */
            from: string;
            /** @description The name of the sender; without one, the display name of the project */
            fromName: string | null;
            /** @description Emails in which a person clicked a link; machines are left out */
            humanClickedCount: number;
            /** @description Emails that a person opened; machines are left out */
            humanOpenedCount: number;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description The name */
            name: string;
            /** @description Emails that were opened */
            openedCount: number;
            /** @description whether somebody has paused a campaign that is being sent */
            paused: boolean;
            /** @description since when it is paused */
            pausedAt: string | null;
            /** @description What lists of emails show beside the subject; it may hold {{placeholders}} */
            preheader: string | null;
            /**
             * Format: uuid
             * @description The project that it belongs to
             */
            projectId: string;
            /** @description whether the project's archive shows it once it is SENT */
            public: boolean;
            /** @description The address for replies */
            replyTo: string | null;
            /** @description When it is to be sent; null for at once, or not sent yet */
            scheduledFor: string | null;
            /** @description The segment; for SEGMENT */
            segmentId: string | null;
            /** @description When it was sent */
            sentAt: string | null;
            /** @description Emails that were sent */
            sentCount: number;
            /**
             * @description Its state
             * @enum {string}
             */
            status: "DRAFT" | "SCHEDULED" | "SENDING" | "SENT" | "CANCELLED";
            /** @description The subject; it may hold {{placeholders}} */
            subject: string;
            /** @description A text/plain part of your own; without one, it is made from the body. It may hold {{placeholders}} */
            text: string | null;
            /** @description What it is about; recipients who left this topic do not get it. TRANSACTIONAL email has none */
            topicId: string | null;
            /** @description How many recipients the audience has; 0 before it is sent, when POST /campaigns/{id}/check tells how many it would have */
            totalRecipients: number;
            /**
             * @description The kind
             * @enum {string}
             */
            type: "TRANSACTIONAL" | "MARKETING" | "HEADLESS";
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
            /** @description why a campaign that is being sent waits: a provider of recipients or all SMTP servers refuse its emails, no SMTP server answers, or too many recipients complain; and when it is tried next */
            waiting: components["schemas"]["ProviderWait"] | null;
        };
        /** @description A link that leads nowhere */
        CampaignBadLink: {
            /** @description The link as it is written */
            href: string;
            /** @description Why */
            reason: string;
        };
        /** @description What would happen if a campaign were sent now */
        CampaignCheck: {
            /** @description Links that lead nowhere */
            badLinks: components["schemas"]["CampaignBadLink"][];
            /** @description Whether there is no problem of level error */
            canBeSent: boolean;
            /** @description Null when no speed is known */
            duration: components["schemas"]["CampaignDuration"] | null;
            /** @description Whether one-click unsubscribing is needed, and works */
            oneClickUnsubscribe: components["schemas"]["CampaignOneClick"];
            /** @description Placeholders that print nothing for some recipients */
            placeholders: components["schemas"]["CampaignPlaceholders"];
            /** @description Whether there is text for those who see no HTML */
            plainText: boolean;
            /** @description What was found, errors first */
            problems: components["schemas"]["CampaignProblem"][];
            /** @description The recipients */
            recipients: components["schemas"]["CampaignRecipients"];
            /** @description What receivers can verify of the sender */
            sender: components["schemas"]["CampaignSender"];
            /** @description The size of the email to the first recipient */
            size: components["schemas"]["CampaignSize"];
            /** @description Why the template cannot be rendered; null where it can */
            templateError: string | null;
            /** @description Null when no warm-up holds it for longer than today */
            warmUp: components["schemas"]["CampaignWarmUp"] | null;
        };
        /** @description How long the sending will take at least: traffic rules and providers that slow down make it longer */
        CampaignDuration: {
            /**
             * @description The limit of the project, or its speed within the last day
             * @enum {string}
             */
            basis: "limit" | "measured";
            /**
             * @description The speed that this assumes
             * @example 50
             */
            emailsPerSecond: number;
            /**
             * @description Seconds from the first email to the last
             * @example 420
             */
            seconds: number;
        };
        /** @description A placeholder that prints nothing for some */
        CampaignEmptyPlaceholder: {
            /** @description The placeholder as it is written */
            placeholder: string;
            /** @description The recipients */
            recipients: number;
        };
        /** @description A link of a campaign */
        CampaignLink: {
            /** @description How often it was clicked */
            clicks: number;
            /** @description People who clicked it */
            recipients: number;
            /** @description where it leads to */
            url: string;
        };
        /** @description Contacts of the audience who get nothing, by the reason */
        CampaignNotReceiving: {
            /** @description They have paused marketing, and are not queued */
            paused: number;
            /** @description They have not confirmed their subscription, and are not queued */
            pending: number;
            /** @description They are queued and come out as SUPPRESSED */
            suppressed: number;
            /** @description They left the topic, or never joined one that has to be joined, and are not queued */
            topic: number;
            /** @description They are not queued */
            unsubscribed: number;
        };
        /** @description One-click unsubscribing (RFC 8058) */
        CampaignOneClick: {
            /** @description Whether PUBLIC_URL is https, which one-click unsubscribing needs */
            https: boolean;
            /** @description Whether its type asks for one-click unsubscribing */
            required: boolean;
        };
        /** @description A page of items, and how many there are in all */
        CampaignPage: {
            /** @description The items */
            data: components["schemas"]["Campaign"][];
            /** @description The number of the page, from 1 */
            page: number;
            /** @description How many items a page has, at most 100; more counts as 100 */
            pageSize: number;
            /** @description How many there are in all */
            total: number;
            /** @description How many pages there are */
            totalPages: number;
        };
        /** @description Placeholders without a value */
        CampaignPlaceholders: {
            /** @description Recipients whose data was checked: the first ones, by id */
            checked: number;
            /** @description Placeholders that print nothing, and for how many recipients */
            empty: components["schemas"]["CampaignEmptyPlaceholder"][];
        };
        /** @description Something that stops a campaign, or is worth a look */
        CampaignProblem: {
            /**
             * @description The kind of problem
             * @enum {string}
             */
            code: "NO_RECIPIENTS" | "TEMPLATE_ERROR" | "DOMAIN_NOT_REGISTERED" | "DOMAIN_NOT_VERIFIED" | "DKIM_NOT_ALIGNED" | "SPF_NOT_ALIGNED" | "DMARC_MISSING" | "ONE_CLICK_NOT_HTTPS" | "NOBODY_IN_TOPIC" | "CLIPPED_BY_GMAIL" | "BAD_LINKS" | "EMPTY_PLACEHOLDERS" | "FOREIGN_PLACEHOLDERS" | "NO_PLAIN_TEXT" | "WARM_UP";
            /**
             * @description With an error the campaign cannot be sent, or not as it is
             * @enum {string}
             */
            level: "error" | "warning";
            /** @description What has happened, for people */
            message: string;
        };
        /** @description Who will get the campaign, counted at this moment */
        CampaignRecipients: {
            /** @description Contacts that the audience names */
            matching: number;
            /** @description Contacts of the audience who get nothing, by the reason */
            notReceiving: components["schemas"]["CampaignNotReceiving"];
            /** @description `totalRecipients` of the campaign if it were sent now */
            queued: number;
            /** @description Queued recipients who will be sent to */
            receiving: number;
        };
        /** @description A campaign by id and name */
        CampaignReference: {
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description The name */
            name: string;
            /**
             * @description Its state
             * @enum {string}
             */
            status: "DRAFT" | "SCHEDULED" | "SENDING" | "SENT" | "CANCELLED";
        };
        /** @description What receivers can verify of the sender */
        CampaignSender: {
            /** @description When its DNS records were looked up last */
            checkedAt: string | null;
            /** @description Whether the domain of the author signs */
            dkimAligned: boolean;
            /** @description Whether the domain publishes a policy */
            dmarc: boolean;
            /** @description The domain after the @ of sender addresses */
            domain: string;
            /** @description Whether the project has the domain */
            registered: boolean;
            /** @description Whether the return path is below the domain of the author */
            spfAligned: boolean;
            /** @description Whether email may be sent from it */
            verified: boolean;
        };
        /** @description The size of the email to the first recipient */
        CampaignSize: {
            /** @description Whether Gmail hides the end */
            clippedByGmail: boolean;
            /** @description Octets of the HTML */
            htmlBytes: number;
            /** @description Octets of the plain text */
            textBytes: number;
        };
        /** @description Counters and rates of a campaign */
        CampaignStats: {
            /** @description Emails that bounced */
            bouncedCount: number;
            /** @description Percent that bounced */
            bounceRate: number;
            /** @description Emails in which a link was clicked */
            clickedCount: number;
            /** @description Percent in which a link was clicked */
            clickRate: number;
            /** @description Emails that were reported as spam */
            complainedCount: number;
            /** @description Emails that a server accepted */
            deliveredCount: number;
            /** @description Percent that a server accepted */
            deliveryRate: number;
            /** @description Emails that could not be sent */
            failedCount: number;
            /** @description Emails in which a person clicked a link; machines are left out */
            humanClickedCount: number;
            /** @description Percent in which a person clicked a link */
            humanClickRate: number;
            /** @description Emails that a person opened; machines are left out */
            humanOpenedCount: number;
            /** @description Percent that a person opened */
            humanOpenRate: number;
            /** @description Emails that were opened */
            openedCount: number;
            /** @description Percent that were opened */
            openRate: number;
            /** @description Emails that were sent */
            sentCount: number;
            /** @description Recipients that were skipped, because they had unsubscribed or were deleted meanwhile */
            skippedCount: number;
            /** @description Recipients that were left out, because their addresses are suppressed */
            suppressedCount: number;
            /** @description How many recipients the audience has; 0 before it is sent, when POST /campaigns/{id}/check tells how many it would have */
            totalRecipients: number;
            /** @description Recipients that unsubscribed by it */
            unsubscribedCount: number;
        };
        /** @description How many days it takes, because sources warm up */
        CampaignWarmUp: {
            /**
             * @description The day on which the last email goes; 1 is today
             * @example 3
             */
            days: number;
            /** @description The provider that takes the most days */
            provider: string;
        };
        /** @description How many were active */
        CancelAllWorkflowExecutionsResponse: {
            /** @description How many executions were cancelled */
            cancelled: number;
        };
        /** @description The body of checkResendCampaign */
        CheckResendCampaignRequest: {
            /** @description States of GET /campaigns/{id}/recipients: FAILED, BOUNCED, SKIPPED, SUPPRESSED */
            states: string[];
        };
        /** @description Why a segment could not be computed */
        ComputeError: {
            /**
             * Format: date-time
             * @description When it happened
             */
            at: string;
            /**
             * @description What has happened, for people
             * @example The segment takes too long to compute
             */
            message: string;
        };
        /** @description The config of a CONDITION step: a tree of filters, or one filter in its place */
        ConditionConfig: components["schemas"]["FilterTree"] | components["schemas"]["Filter"];
        /** @description What is wrong */
        ConflictError: {
            /**
             * @description What is wrong, for programs
             * @enum {string}
             */
            code: "CONFLICT" | "IDEMPOTENCY_KEY_REUSED";
            /**
             * @description More about it, for programs
             * @example {
             *       "field": "status"
             *     }
             */
            details?: {
                [key: string]: unknown;
            };
            /** @description The faulty fields */
            errors?: components["schemas"]["FieldError"][];
            /**
             * @description What is wrong, for people
             * @example The request conflicts with the current state
             * @example This Idempotency-Key has already been used
             */
            message: string;
            /** @description The same as in the header X-Request-ID */
            requestId: string;
            /**
             * @description The HTTP status
             * @constant
             */
            statusCode: 409;
            /**
             * @description What to do about it
             * @example Check the key
             */
            suggestion?: string;
        };
        /** @description The answer with status 409 */
        ConflictResponse: {
            /** @description What went wrong; null when nothing did */
            error: components["schemas"]["ConflictError"];
            /**
             * @description Always false
             * @constant
             */
            success: false;
            /**
             * Format: date-time
             * @description When it was answered
             */
            timestamp: string;
        };
        /** @description A step with its template and its transitions */
        ConnectedStep: {
            /** @description What the step does; its shape depends on the type */
            config: components["schemas"]["TriggerConfig"] | components["schemas"]["SendEmailConfig"] | components["schemas"]["DelayConfig"] | components["schemas"]["WaitForEventConfig"] | components["schemas"]["ConditionConfig"] | components["schemas"]["WebhookConfig"] | components["schemas"]["UpdateContactConfig"] | components["schemas"]["ExitConfig"];
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description Transitions that lead to the step */
            incomingTransitions: components["schemas"]["WorkflowTransition"][];
            /** @description The name */
            name: string;
            /** @description Transitions that leave the step */
            outgoingTransitions: components["schemas"]["WorkflowTransition"][];
            /** @description Where an editor draws the step */
            position: components["schemas"]["StepPosition"];
            /** @description The template */
            template: components["schemas"]["Reference"] | null;
            /** @description The template */
            templateId: string | null;
            /**
             * @description The kind
             * @enum {string}
             */
            type: "TRIGGER" | "SEND_EMAIL" | "DELAY" | "WAIT_FOR_EVENT" | "CONDITION" | "WEBHOOK" | "UPDATE_CONTACT" | "EXIT";
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
            /**
             * Format: uuid
             * @description The workflow
             */
            workflowId: string;
        };
        /** @description A change of what a contact consents to */
        Consent: {
            /**
             * Format: date-time
             * @description When it happened
             */
            at: string;
            /** @description what changed it */
            cause: components["schemas"]["ConsentCause"];
            /** @description of the contact's device, as far as the project keeps it */
            clientAddress: string | null;
            /** @description why the reader left, where a page asked and got an answer */
            feedback?: components["schemas"]["ConsentFeedback"];
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /**
             * Format: date-time
             * @description of a pause: its end
             * @example 2026-03-01T08:00:00.000Z
             */
            pausedUntil?: string;
            /**
             * @description What has become of it
             * @enum {string}
             */
            state: "subscribed" | "unsubscribed" | "pending" | "expired" | "paused" | "resumed" | "tracking_allowed" | "tracking_denied";
            /** @description null for all marketing */
            topic: components["schemas"]["ConsentTopic"] | null;
            /** @description null where none were shown */
            wording: components["schemas"]["ConsentWording"] | null;
        };
        /** @description What changed it, with everything that it names */
        ConsentCause: {
            /**
             * Format: uuid
             * @description The campaign that it belongs to
             */
            campaignId?: string;
            /**
             * Format: uuid
             * @description The email
             */
            emailId?: string;
            /** @description the endpoint of the request */
            endpoint?: string;
            /**
             * Format: uuid
             * @description The execution
             * @example 01a214c7-4844-779a-8282-47d2aa49762f
             */
            executionId?: string;
            /**
             * Format: uuid
             * @description The job, whose state can be polled
             */
            jobId?: string;
            /**
             * @description the kind of key of the request
             * @enum {string}
             */
            key?: "public" | "secret";
            /**
             * @description Why
             * @enum {string}
             */
            reason: "hard_bounce" | "complaint" | "link" | "page" | "one_click" | "email" | "bounce_undone" | "api" | "send" | "track" | "form" | "confirmation" | "import" | "bulk" | "workflow";
            /**
             * Format: uuid
             * @description The workflow
             */
            workflowId?: string;
        } & {
            [key: string]: string;
        };
        /** @description Why a reader left, when a page asked */
        ConsentFeedback: {
            /**
             * @description Why
             * @enum {string}
             */
            reason?: "too_many" | "not_relevant" | "never_subscribed" | "other";
            /** @description own words */
            text?: string;
        };
        /** @description A page of the record of consent of a contact */
        ConsentPage: {
            /** @description Where the next page begins; empty on the last one */
            cursor: string;
            /** @description Custom data */
            data: components["schemas"]["Consent"][];
            /** @description Whether there is another page */
            hasMore: boolean;
            /** @description why the address gets no email at all; null when it may */
            suppression: components["schemas"]["Suppression"] | null;
        };
        /** @description A topic, which may be deleted since */
        ConsentTopic: {
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /**
             * @description its key
             * @example news
             */
            key: string | null;
        };
        /** @description Words that somebody consented to */
        ConsentWording: {
            /** @description the SHA-256 of the text */
            id: string;
            /** @description A text/plain part of your own; without one, it is made from the body. It may hold {{placeholders}} */
            text: string;
        };
        /** @description Somebody whom the project writes to */
        Contact: {
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description Custom data */
            data: {
                [key: string]: unknown;
            };
            /**
             * @description The email address
             * @example ada@example.com
             */
            email: string;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /**
             * Format: date-time
             * @description Until when the contact gets no marketing email; left out while it has not paused
             * @example 2026-03-01T08:00:00.000Z
             */
            pausedUntil?: string;
            /**
             * @description While a subscription of the contact waits for its confirmation; left out otherwise
             * @constant
             */
            pending?: true;
            /** @description Whether the contact gets marketing email */
            subscribed: boolean;
            /**
             * @description Which topics the contact has, by their keys; left out in a project without topics
             * @example {
             *       "news": true
             *     }
             */
            topics?: {
                [key: string]: boolean;
            };
            /**
             * @description Whether the contact agreed to tracking; left out for one who was not asked
             * @example true
             */
            trackingAllowed?: boolean;
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
        };
        /** @description A field of contacts */
        ContactField: {
            /** @description The share of contacts that have it, from 0 to 1 */
            coverage: number;
            /** @description The name of the field */
            field: string;
            /** @description Whether it is a field of `data` */
            isCustom: boolean;
            /**
             * @description The kind
             * @enum {string}
             */
            type: "string" | "number" | "boolean" | "date";
        };
        /** @description The fields */
        ContactFields: {
            /** @description The fields */
            fields: components["schemas"]["ContactField"][];
        };
        /** @description A page of contacts */
        ContactPage: {
            /** @description Where the next page begins; empty on the last one */
            cursor: string;
            /** @description Custom data */
            data: components["schemas"]["Contact"][];
            /** @description Whether there is another page */
            hasMore: boolean;
            /** @description On the first page only, 0 on later ones */
            total: number;
        };
        /** @description A contact by id and address */
        ContactReference: {
            /**
             * @description The email address
             * @example ada@example.com
             */
            email: string;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
        };
        /** @description A topic as it holds for a contact */
        ContactTopic: {
            /** @description When the contact chose; null without a choice */
            changedAt: string | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description Whether the contact has chosen so; otherwise it is the default of the topic */
            isChosen: boolean;
            /** @description Names the topic in requests, imports and filters */
            key: string;
            /** @description The name */
            name: string;
            /** @description Whether the contact has the topic */
            subscribed: boolean;
            /**
             * @description Whether readers see it on the preference page
             * @enum {string}
             */
            visibility: "public" | "private";
        };
        /** @description The topics of a contact */
        ContactTopics: {
            /** @description All topics of the project, oldest first */
            topics: components["schemas"]["ContactTopic"][];
        };
        /** @description The body of createCampaign */
        CreateCampaignRequest: {
            /** @description The filter that selects the recipients; for FILTERED */
            audienceCondition?: components["schemas"]["FilterCondition"] | null;
            /**
             * @description Who gets it: every contact, a segment, or those that fit a filter
             * @enum {string}
             */
            audienceType: "ALL" | "SEGMENT" | "FILTERED";
            /** @description HTML with {{variables}} */
            body: string;
            /** @description A note for yourself; recipients do not see it */
            description?: string | null;
            /**
             * Format: email
             * @description An address of a verified domain
             */
            from: string;
            /** @description The name of the sender; without one, the display name of the project */
            fromName?: string | null;
            /** @description The name */
            name: string;
            /** @description What lists of emails show beside the subject; it may hold {{placeholders}} */
            preheader?: string | null;
            /** @description The address for replies */
            replyTo?: string | null;
            /** @description The segment; for SEGMENT */
            segmentId?: string | null;
            /**
             * @description The subject; it may hold {{placeholders}}
             * @example Welcome, {{firstName ?? "friend"}}
             */
            subject: string;
            /** @description A text/plain part of your own; without one, it is made from the body. It may hold {{placeholders}} */
            text?: string | null;
            /** @description What it is about; recipients who left this topic do not get it. TRANSACTIONAL email has none */
            topicId?: string | null;
            /**
             * @description The kind
             * @default MARKETING
             * @enum {string}
             */
            type?: "TRANSACTIONAL" | "MARKETING" | "HEADLESS";
        };
        /** @description The draft */
        CreateCampaignResponse: {
            /** @description Custom data */
            data: components["schemas"]["Campaign"];
            /**
             * @description What has happened, for people
             * @example Campaign is being sent
             */
            message?: string;
            /**
             * @description Always true
             * @constant
             */
            success: true;
        };
        /** @description A new key */
        CreatedKey: {
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description From when on it is refused; null means never */
            expiresAt: string | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description Whether it made this request */
            isCurrent: boolean;
            /**
             * @description The key itself, shown here only
             * @example sk_…
             */
            key: string;
            /** @description When it was last used, to the minute */
            lastUsedAt: string | null;
            /**
             * @description The name
             * @example Shop server
             */
            name: string;
            /**
             * @description What it may call
             * @enum {string}
             */
            role: "full" | "send" | "marketing" | "support" | "read" | "track";
            /** @description The only domains that it may send from */
            senderDomains: string[] | null;
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
        };
        /** @description The body of createDomain */
        CreateDomainRequest: {
            /** @description The domain after the @ of sender addresses */
            domain: string;
            /**
             * Format: uuid
             * @description The project of the key, which is also the default
             */
            projectId?: string;
        };
        /** @description The body of createKey */
        CreateKeyRequest: {
            /** @description From when on the key is refused; null means never */
            expiresAt?: string | null;
            /**
             * @description Where the key is used
             * @example Shop server
             */
            name: string;
            /**
             * @description What it may call; it never changes
             * @enum {string}
             */
            role: "full" | "send" | "marketing" | "support" | "read" | "track";
            /** @description The only domains that a send key may send from; null means all of the project */
            senderDomains?: string[] | null;
        };
        /** @description The body of createSegment */
        CreateSegmentRequest: {
            /** @description Required for DYNAMIC, ignored for STATIC */
            condition?: components["schemas"]["FilterCondition"];
            /** @description A note for yourself; recipients do not see it */
            description?: string | null;
            /** @description The name */
            name: string;
            /**
             * @description Whether events are recorded when contacts join and leave
             * @default false
             */
            trackMembership?: boolean;
            /**
             * @description The kind
             * @default DYNAMIC
             * @enum {string}
             */
            type?: "DYNAMIC" | "STATIC";
        };
        /** @description The body of createTemplate */
        CreateTemplateRequest: {
            /** @description HTML with {{variables}} */
            body: string;
            /** @description A note for yourself; recipients do not see it */
            description?: string | null;
            /**
             * Format: email
             * @description An address of a verified domain
             */
            from: string;
            /** @description The name of the sender; without one, the display name of the project */
            fromName?: string | null;
            /** @description The name */
            name: string;
            /** @description What lists of emails show beside the subject; it may hold {{placeholders}} */
            preheader?: string | null;
            /** @description The address for replies */
            replyTo?: string | null;
            /**
             * @description The subject; it may hold {{placeholders}}
             * @example Welcome, {{firstName ?? "friend"}}
             */
            subject: string;
            /** @description A text/plain part of your own; without one, it is made from the body. It may hold {{placeholders}} */
            text?: string | null;
            /** @description What it is about; recipients who left this topic do not get it. TRANSACTIONAL email has none */
            topicId?: string | null;
            /**
             * @description The kind
             * @default MARKETING
             * @enum {string}
             */
            type?: "TRANSACTIONAL" | "MARKETING" | "HEADLESS";
        };
        /** @description The body of createTopic */
        CreateTopicRequest: {
            /**
             * @description opt_in: every subscribed contact gets it until they leave it; opt_out: only those who joined it get it. It never changes
             * @enum {string}
             */
            defaultSubscription: "opt_in" | "opt_out";
            /** @description What readers get; they see it on the preference page */
            description?: string | null;
            /** @description Whether a subscription through a form has to be confirmed; null means as the project says */
            doubleOptIn?: boolean | null;
            /**
             * @description Names the topic in requests, imports and filters; it never changes
             * @example news
             */
            key: string;
            /**
             * @description What readers see
             * @example News
             */
            name: string;
            /**
             * @description Name and description in further languages, by language; readers without one see those above
             * @example {
             *       "de": {
             *         "name": "Neuigkeiten",
             *         "description": "Einmal im Monat"
             *       }
             *     }
             */
            texts?: {
                [key: string]: components["schemas"]["TopicText"];
            };
            /**
             * @description Whether readers see it on the preference page
             * @default public
             * @enum {string}
             */
            visibility?: "public" | "private";
        };
        /** @description The body of createWebhook */
        CreateWebhookRequest: {
            /**
             * @description The most events of one request; above 1 they come as `type: "batch"` with a list
             * @default 1
             */
            batchSize?: number;
            /** @description A note for yourself; recipients do not see it */
            description?: string | null;
            /**
             * @description Whether it starts executions
             * @default true
             */
            enabled?: boolean;
            /**
             * @description Names of events; `*` stands for any text
             * @default [
             *       "*"
             *     ]
             * @example [
             *       "email.*",
             *       "order.paid"
             *     ]
             */
            events?: string[];
            /**
             * @description Where events are sent to, https or http
             * @example https://example.com/everpost
             */
            url: string;
        };
        /** @description The endpoint with its secret */
        CreateWebhookResponse: {
            /** @description The most events of one request */
            batchSize: number;
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description A note for yourself; recipients do not see it */
            description: string | null;
            /** @description When it was disabled; null while it is enabled */
            disabledAt: string | null;
            /** @description Why Everpost disabled it */
            disabledReason: string | null;
            /** @description Whether it starts executions */
            enabled: boolean;
            /** @description The events */
            events: string[];
            /** @description Since when it has accepted nothing; null while it accepts events */
            failingSince: string | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description Until then, requests are signed with the previous secret, too */
            previousSecretExpiresAt: string | null;
            /**
             * Format: uuid
             * @description The project that it belongs to
             */
            projectId: string;
            /** @description When it is tried again; null where nothing waits */
            retryAt: string | null;
            /**
             * @description What requests are signed with; shown here only
             * @example whsec_…
             */
            secret: string;
            /**
             * @description `failing`: it accepted nothing of the last request, and is tried again
             * @enum {string}
             */
            status: "active" | "failing" | "disabled";
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
            /** @description Where events are sent to */
            url: string;
        };
        /** @description The body of createWorkflow */
        CreateWorkflowRequest: {
            /** @description Whether a contact may go through it again once an earlier execution has ended */
            allowReentry?: boolean;
            /** @description A note for yourself; recipients do not see it */
            description?: string | null;
            /**
             * @description The name of the event
             * @example signed_up
             * @example email.open
             * @example segment.vip.entry
             */
            eventName?: string;
            /** @description The name */
            name: string;
            /** @description What starts it */
            triggerConfig?: components["schemas"]["NewTrigger"];
        };
        /** @description The config of a DELAY step, at most 365 days */
        DelayConfig: {
            /**
             * @description How many units; fractions are allowed
             * @example 1.5
             */
            amount: number;
            /**
             * @description What `amount` counts
             * @enum {string}
             */
            unit: "minutes" | "hours" | "days";
        };
        /** @description How many were deleted */
        DeleteEventsResponse: {
            /** @description How many were deleted */
            deletedCount: number;
        };
        /** @description What providers make of our mail */
        Deliverability: {
            /**
             * Format: date
             * @description The first day
             */
            from: string;
            /** @description Whether the numbers are those of the project alone; else they are of all mail of the sources */
            isOfProject: boolean;
            /** @description By source and provider, those with the most emails first */
            results: components["schemas"]["DeliverabilityResult"][];
            /**
             * Format: date
             * @description The last day, which is today in UTC
             */
            to: string;
        };
        /** @description What a provider made of the emails of a day in UTC */
        DeliverabilityDay: {
            /**
             * @description Emails that the provider accepted
             * @example 1140
             */
            accepted: number | null;
            /**
             * @description Percent of the offered emails that it accepted
             * @example 95
             */
            acceptedRate: number | null;
            /**
             * @description Percent that were reported as spam
             * @example 0.1
             */
            complaintRate: number | null;
            /**
             * @description Emails that were reported as spam
             * @example 1
             */
            complaints: number | null;
            /**
             * Format: date
             * @description The day, in UTC
             */
            date: string;
            /**
             * @description Emails that it put off for another reason, such as greylisting
             * @example 12
             */
            deferredOther: number | null;
            /**
             * @description Percent of the offered emails that it put off
             * @example 13
             */
            deferredRate: number | null;
            /**
             * @description Emails that it put off for reputation
             * @example 144
             */
            deferredReputation: number | null;
            /**
             * @description Emails that it put off because they came too fast
             * @example 0
             */
            deferredSpeed: number | null;
            /**
             * @description Mean time from when an email was due until it was accepted; null without one
             * @example 42.5
             */
            deliverySeconds: number | null;
            /**
             * @description Percent of the offered emails whose mailbox or domain does not exist
             * @example 0.5
             */
            hardBounceRate: number | null;
            /**
             * @description Emails that the provider answered; each counts once a day
             * @example 1200
             */
            offered: number | null;
            /**
             * @description Emails whose mailbox or domain does not exist
             * @example 6
             */
            refusedMailbox: number | null;
            /**
             * @description Emails that it refused for another reason
             * @example 0
             */
            refusedOther: number | null;
            /**
             * @description Percent of the offered emails that it refused
             * @example 0.8
             */
            refusedRate: number | null;
            /**
             * @description Emails that it refused for reputation or policy
             * @example 4
             */
            refusedReputation: number | null;
        };
        /** @description What a provider made of emails */
        DeliverabilityNumbers: {
            /**
             * @description Emails that the provider accepted
             * @example 1140
             */
            accepted: number | null;
            /**
             * @description Percent of the offered emails that it accepted
             * @example 95
             */
            acceptedRate: number | null;
            /**
             * @description Percent that were reported as spam
             * @example 0.1
             */
            complaintRate: number | null;
            /**
             * @description Emails that were reported as spam
             * @example 1
             */
            complaints: number | null;
            /**
             * @description Emails that it put off for another reason, such as greylisting
             * @example 12
             */
            deferredOther: number | null;
            /**
             * @description Percent of the offered emails that it put off
             * @example 13
             */
            deferredRate: number | null;
            /**
             * @description Emails that it put off for reputation
             * @example 144
             */
            deferredReputation: number | null;
            /**
             * @description Emails that it put off because they came too fast
             * @example 0
             */
            deferredSpeed: number | null;
            /**
             * @description Mean time from when an email was due until it was accepted; null without one
             * @example 42.5
             */
            deliverySeconds: number | null;
            /**
             * @description Percent of the offered emails whose mailbox or domain does not exist
             * @example 0.5
             */
            hardBounceRate: number | null;
            /**
             * @description Emails that the provider answered; each counts once a day
             * @example 1200
             */
            offered: number | null;
            /**
             * @description Emails whose mailbox or domain does not exist
             * @example 6
             */
            refusedMailbox: number | null;
            /**
             * @description Emails that it refused for another reason
             * @example 0
             */
            refusedOther: number | null;
            /**
             * @description Percent of the offered emails that it refused
             * @example 0.8
             */
            refusedRate: number | null;
            /**
             * @description Emails that it refused for reputation or policy
             * @example 4
             */
            refusedReputation: number | null;
        };
        /** @description What a provider made of the emails of a source, or of the project */
        DeliverabilityResult: {
            /** @description Days on which the provider was offered mail */
            days: components["schemas"]["DeliverabilityDay"][];
            /** @description The provider of the recipients; other is all that have no row of their own */
            provider: string;
            /** @description What it has against our mail now, the most urgent first */
            signs: components["schemas"]["DeliverabilitySign"][];
            /**
             * @description The name of the source that carried them; null for the numbers of the project
             * @example mx1
             */
            source: string | null;
            /** @description The sums of the days */
            totals: components["schemas"]["DeliverabilityNumbers"];
            /**
             * @description Why the warm-up of the source repeats a day or stepped back at the provider; null where it did not
             * @example 2026-02-03 is repeated: 6 % of the mailboxes do not exist
             */
            warmUpReason: string | null;
        };
        /** @description Something that a provider has against our mail now */
        DeliverabilitySign: {
            /**
             * @description Whether it is so high that providers act on it
             * @example true
             */
            isUrgent: boolean;
            /**
             * @description How many percent of the emails since its first day
             * @example 12
             */
            percent: number;
            /**
             * @description The same in words
             * @example Outlook defers 12 % for reputation since Tuesday
             */
            sentence: string;
            /**
             * @description The number that is too high
             * @enum {string}
             */
            sign: "complaints" | "refusedMailbox" | "refusedReputation" | "deferredReputation" | "deferredSpeed" | "refusedOther" | "deferredOther";
            /**
             * Format: date
             * @description The first day of the present streak
             * @example 2026-02-03
             */
            since: string;
        };
        /** @description A DNS record to set up */
        DnsRecord: {
            /** @description Whether the last check found it */
            found: boolean;
            /** @description The full name of the record */
            name: string;
            /**
             * @description What the record is for
             * @enum {string}
             */
            purpose: "DKIM" | "RETURN_PATH" | "SPF" | "DMARC";
            /** @description Whether the domain needs it to be verified */
            required: boolean;
            /**
             * @description The type of the record
             * @enum {string}
             */
            type: "TXT" | "MX";
            /** @description What the record holds */
            value: string;
        };
        /** @description A domain to send from */
        Domain: {
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description The domain after the @ of sender addresses */
            domain: string;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description When its DNS records were last looked up */
            lastCheckedAt: string | null;
            /**
             * Format: uuid
             * @description The project that it belongs to
             */
            projectId: string;
            /** @description The DNS records to set up */
            records: components["schemas"]["DnsRecord"][];
            /** @description Whether email from the domain is signed with DKIM. A domain that the operator trusts may send (`verified`) before DNS verifies it, and sends unsigned until then */
            signed: boolean;
            /**
             * @description Its state
             * @enum {string}
             */
            status: "PENDING" | "VERIFIED";
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
            /** @description Whether email may be sent from it */
            verified: boolean;
            /** @description When it was verified */
            verifiedAt: string | null;
        };
        /** @description How subscriptions through forms are confirmed */
        DoubleOptIn: {
            /**
             * @description After how many days a request that nobody confirmed ends
             * @default 7
             * @example 7
             */
            expireAfterDays?: number;
            /** @description The sender of confirmations, at a verified domain; null: no-reply at the first verified domain */
            from?: string | null;
            /**
             * @description Whether a subscription has to be confirmed. A topic may say otherwise
             * @default true
             * @example true
             */
            isRequired?: boolean;
            /**
             * @description Hosts that a form may lead to, besides verified sender domains and the hosts below these
             * @default []
             * @example [
             *       "www.example.com"
             *     ]
             */
            redirectHosts?: string[];
            /**
             * @description After how many days the one reminder follows, unless the request ends before; 0: none
             * @default 2
             * @example 2
             */
            remindAfterDays?: number;
            /**
             * @description A TRANSACTIONAL template with {{confirmUrl}} in place of the built-in email
             * @default null
             * @example 01a214c7-4844-779a-8282-47d2aa49762f
             */
            templateId?: string | null;
        };
        /** @description An email and its state */
        Email: {
            /** @description When it bounced */
            bouncedAt: string | null;
            /** @description The campaign that it belongs to */
            campaignId: string | null;
            /** @description When a link in it was first clicked */
            clickedAt: string | null;
            /** @description How often a link in it was clicked */
            clicks: number;
            /** @description When its recipient reported it as spam */
            complainedAt: string | null;
            /** @description The contact */
            contactId: string | null;
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description attempts after which a server asked for another one */
            deferrals: number;
            /** @description When a server accepted it */
            deliveredAt: string | null;
            /** @description the words of the server, or why it was not sent */
            error: string | null;
            /** @description The execution */
            executionId: string | null;
            /** @description When a person first clicked a link in it */
            humanClickedAt: string | null;
            /** @description When a person first opened it, or clicked a link in it */
            humanOpenedAt: string | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description When the next attempt is made; null when there is none */
            nextAttemptAt: string | null;
            /** @description When it was first opened */
            openedAt: string | null;
            /** @description How often it was opened */
            opens: number;
            /** @description when a scheduled email is due */
            scheduledAt: string | null;
            /** @description When it was sent */
            sentAt: string | null;
            /**
             * @description Its state
             * @enum {string}
             */
            status: "PENDING" | "SENDING" | "SENT" | "DELIVERED" | "OPENED" | "CLICKED" | "BOUNCED" | "COMPLAINED" | "FAILED" | "SKIPPED" | "SUPPRESSED" | "CANCELLED";
            /** @description cut after 1,000 characters */
            subject: string | null;
            /** @description Words by which the email is found */
            tags: string[];
            /** @description The template */
            templateId: string | null;
            /** @description null once its contact was erased */
            to: string | null;
            /** @description what it is about */
            topicId: string | null;
            /**
             * @description the current type of its campaign or template
             * @enum {string}
             */
            type: "TRANSACTIONAL" | "MARKETING" | "HEADLESS";
            /** @description When its recipient unsubscribed by it */
            unsubscribedAt: string | null;
            /** @description The workflow */
            workflowId: string | null;
        };
        /** @description What an email says */
        EmailContent: {
            /** @description Files of the email */
            attachments: components["schemas"]["MessageAttachment"][];
            /** @description all header fields, unfolded, in their order */
            headers: components["schemas"]["MessageHeader"][];
            /**
             * @description with the images that lie in the message itself as data: URLs
             * @example <p>Hello Ada</p>
             */
            html: string;
            /**
             * @description whether it is what was stored; emails of campaigns are rendered again, with the data of today
             * @example true
             */
            isExact: boolean;
            /**
             * @description the message (RFC 5322) without its signature and without the content of its attachments, cut after 500,000 characters
             * @example From: us@example.com
             *     To: ada@example.com
             *     Subject: Hello
             *
             *     Hello Ada
             */
            source: string;
            /** @description A text/plain part of your own; without one, it is made from the body. It may hold {{placeholders}} */
            text: string;
        };
        /** @description The requests that told endpoints about an email */
        EmailDeliveries: {
            /** @description The requests, the latest first */
            deliveries: components["schemas"]["EmailDelivery"][];
        };
        /** @description A request to an endpoint about an email */
        EmailDelivery: {
            /** @description How often it was sent */
            attempts: number;
            /** @description The contact */
            contactId: string | null;
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description Milliseconds until the last answer */
            durationMs: number | null;
            /** @description What went wrong; null when nothing did */
            error: string | null;
            /** @description Events of the request */
            eventCount: number;
            /**
             * Format: uuid
             * @description The event, or the first of several
             */
            eventId: string;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /**
             * Format: date-time
             * @description When the event was stored
             */
            recordedAt: string;
            /** @description When it is tried again; null where nothing waits */
            retryAt: string | null;
            /**
             * @description Its state
             * @enum {string}
             */
            status: "RETRYING" | "DELIVERED" | "FAILED";
            /** @description Of the last answer */
            statusCode: number | null;
            /** @description The name of that event */
            type: string;
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
            /**
             * Format: uuid
             * @description The endpoint
             * @example 01997c1e-5b7a-7c3e-8f2a-6d1e0b9a4c21
             */
            webhookId: string;
        };
        /** @description An email, what happened to it, and why it waits */
        EmailStory: {
            /** @description When it bounced */
            bouncedAt: string | null;
            /** @description The campaign that it belongs to */
            campaignId: string | null;
            /** @description When a link in it was first clicked */
            clickedAt: string | null;
            /** @description How often a link in it was clicked */
            clicks: number;
            /** @description When its recipient reported it as spam */
            complainedAt: string | null;
            /** @description The contact */
            contactId: string | null;
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description attempts after which a server asked for another one */
            deferrals: number;
            /** @description When a server accepted it */
            deliveredAt: string | null;
            /** @description the words of the server, or why it was not sent */
            error: string | null;
            /** @description The execution */
            executionId: string | null;
            /** @description When a person first clicked a link in it */
            humanClickedAt: string | null;
            /** @description When a person first opened it, or clicked a link in it */
            humanOpenedAt: string | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description When the next attempt is made; null when there is none */
            nextAttemptAt: string | null;
            /** @description When it was first opened */
            openedAt: string | null;
            /** @description How often it was opened */
            opens: number;
            /** @description when a scheduled email is due */
            scheduledAt: string | null;
            /** @description When it was sent */
            sentAt: string | null;
            /**
             * @description Its state
             * @enum {string}
             */
            status: "PENDING" | "SENDING" | "SENT" | "DELIVERED" | "OPENED" | "CLICKED" | "BOUNCED" | "COMPLAINED" | "FAILED" | "SKIPPED" | "SUPPRESSED" | "CANCELLED";
            /** @description cut after 1,000 characters */
            subject: string | null;
            /** @description Words by which the email is found */
            tags: string[];
            /** @description The template */
            templateId: string | null;
            /** @description What happened to it, oldest first */
            timeline: components["schemas"]["TimelineEntry"][];
            /** @description null once its contact was erased */
            to: string | null;
            /** @description what it is about */
            topicId: string | null;
            /**
             * @description the current type of its campaign or template
             * @enum {string}
             */
            type: "TRANSACTIONAL" | "MARKETING" | "HEADLESS";
            /** @description When its recipient unsubscribed by it */
            unsubscribedAt: string | null;
            /** @description null while it is being sent, or when it has its outcome */
            waiting: components["schemas"]["EmailWait"] | null;
            /** @description The workflow */
            workflowId: string | null;
        };
        /** @description What an email waits for */
        EmailWait: {
            /**
             * @description "complaints": its campaign is held, because too many recipients complain; "provider paused": it is held, because the provider or the relay refuses our emails or wants fewer; "traffic rule": a rule for its provider is used up; "warm-up": a source warms up, and what it may send today is used up; "no source": the pool of its stream has no source in use; "no relay": an attempt found no SMTP server; "queued": no attempt was made yet
             * @enum {string}
             */
            reason: "project disabled" | "campaign paused" | "complaints" | "provider paused" | "traffic rule" | "warm-up" | "no source" | "deferred" | "throttled" | "no relay" | "scheduled" | "queued";
            /**
             * @description Until when
             * @example 2026-02-04T09:30:00.000Z
             */
            until: string | null;
            /** @description of the server, or what else is known of the reason */
            words: string | null;
        };
        /** @description The executions that have ended in one status */
        EndedExecutionCount: {
            /** @description How many there are */
            executions: number;
            /**
             * @description Its state
             * @enum {string}
             */
            status: "RUNNING" | "WAITING" | "COMPLETED" | "EXITED" | "FAILED" | "CANCELLED";
        };
        /** @description Something that happened */
        Event: {
            /** @description The contact */
            contactId: string | null;
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description What was recorded with it */
            data: {
                [key: string]: unknown;
            };
            /** @description The email */
            emailId: string | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description The name */
            name: string;
            /**
             * Format: uuid
             * @description The project that it belongs to
             */
            projectId: string;
        };
        /** @description The contact of an event */
        EventContact: {
            /**
             * @description The email address
             * @example ada@example.com
             */
            email: string;
        };
        /** @description How often an event happened */
        EventCount: {
            /** @description How many there are */
            count: number;
            /** @description The name */
            name: string;
        };
        /** @description A page of events */
        EventPage: {
            /** @description Where the next page begins; empty on the last one */
            cursor: string;
            /** @description The events */
            events: components["schemas"]["ListedEvent"][];
            /** @description Whether there is another page */
            hasMore: boolean;
        };
        /** @description What uses an event name, and how often it happened */
        EventUsage: {
            /** @description How often it was recorded */
            totalCount: number;
            /** @description For how many contacts it was recorded */
            uniqueContacts: number;
            /** @description Campaigns that use it */
            usedInCampaigns: components["schemas"]["CampaignReference"][];
            /** @description Segments that use it */
            usedInSegments: components["schemas"]["Reference"][];
            /** @description Workflows that use it */
            usedInWorkflows: components["schemas"]["Reference"][];
        };
        /** @description A step by id, name and type */
        ExecutedStep: {
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description The name */
            name: string;
            /**
             * @description The kind
             * @enum {string}
             */
            type: "TRIGGER" | "SEND_EMAIL" | "DELAY" | "WAIT_FOR_EVENT" | "CONDITION" | "WEBHOOK" | "UPDATE_CONTACT" | "EXIT";
        };
        /** @description The contact of an execution */
        ExecutionContact: {
            /** @description The email address */
            email: string;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
        };
        /** @description The executions of one status at one step */
        ExecutionCount: {
            /** @description How many there are */
            executions: number;
            /**
             * @description Its state
             * @enum {string}
             */
            status: "RUNNING" | "WAITING" | "COMPLETED" | "EXITED" | "FAILED" | "CANCELLED";
            /** @description null for executions that have not begun a step */
            stepId: string | null;
        };
        /** @description Where the executions of a workflow are */
        ExecutionCounts: {
            /** @description the largest first */
            counts: components["schemas"]["ExecutionCount"][];
            /** @description how many have ended, at whatever step */
            ended: components["schemas"]["EndedExecutionCount"][];
        };
        /** @description A page of executions, and how many there are in all */
        ExecutionPage: {
            /** @description The items */
            data: components["schemas"]["ListedExecution"][];
            /** @description Another name for `data` */
            executions: components["schemas"]["ListedExecution"][];
            /** @description The number of the page, from 1 */
            page: number;
            /** @description How many items a page has, at most 100; more counts as 100 */
            pageSize: number;
            /** @description How many there are in all */
            total: number;
            /** @description How many pages there are */
            totalPages: number;
        };
        /** @description The config of an EXIT step */
        ExitConfig: {
            /**
             * @description Kept as the `exitReason` of the execution
             * @example has bought
             */
            reason?: string | null;
        };
        /** @description The file */
        ExportContactResponse: {
            [key: string]: unknown;
        };
        /** @description The body of exportContactsByBody */
        ExportContactsByBodyRequest: {
            /** @description Names of columns; all when left out */
            columns?: string[];
            /** @description Only contacts that fit it */
            condition?: components["schemas"]["FilterCondition"];
            /**
             * @description CSV, or one JSON object a line
             * @default csv
             * @enum {string}
             */
            format?: "csv" | "jsonl";
            /**
             * @description Only contacts who have paused marketing, or only the others
             * @example false
             */
            paused?: boolean;
            /**
             * @description Only contacts who have not confirmed their subscription, or only the others
             * @example true
             */
            pending?: boolean;
            /**
             * @description A part of the text; upper and lower case are alike
             * @example ada@example.com
             */
            search?: string;
            /**
             * Format: uuid
             * @description Only contacts of this segment
             */
            segmentId?: string;
            /** @description Whether the contact gets marketing email */
            subscribed?: boolean;
        };
        /** @description A contact in an export */
        ExportedContact: {
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt?: string;
            /** @description Custom data */
            data?: {
                [key: string]: unknown;
            };
            /**
             * @description The email address
             * @example ada@example.com
             */
            email?: string;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id?: string;
            /** @description Until when the contact gets no marketing email */
            pausedUntil?: string | null;
            /** @description Whether a subscription waits for its confirmation */
            pending?: boolean;
            /**
             * @description Why the contact is not subscribed
             * @example link
             */
            reason?: string | null;
            /** @description Whether the contact gets marketing email */
            subscribed?: boolean;
            /**
             * @description Which topics the contact has, by their keys; left out in a project without topics
             * @example {
             *       "news": true
             *     }
             */
            topics?: {
                [key: string]: boolean;
            };
            /** @description Whether the contact agreed to tracking; null for one who was not asked */
            trackingAllowed?: boolean | null;
            /** @description When the contact left; null for one who was never subscribed */
            unsubscribedAt?: string | null;
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt?: string;
        } & {
            [key: string]: unknown;
        };
        /** @description An email in an export */
        ExportedEmail: {
            /** @description When it bounced */
            bouncedAt?: string | null;
            /** @description The campaign that it belongs to */
            campaignId?: string | null;
            /** @description When a link in it was first clicked */
            clickedAt?: string | null;
            /** @description How often a link in it was clicked */
            clicks?: number;
            /** @description When its recipient reported it as spam */
            complainedAt?: string | null;
            /** @description The contact */
            contactId?: string | null;
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt?: string;
            /** @description When a server accepted it */
            deliveredAt?: string | null;
            /** @description the words of the server, or why it was not sent */
            error?: string | null;
            /** @description The execution */
            executionId?: string | null;
            /** @description When a person first clicked a link in it */
            humanClickedAt?: string | null;
            /** @description When a person first opened it, or clicked a link in it */
            humanOpenedAt?: string | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id?: string;
            /** @description When it was first opened */
            openedAt?: string | null;
            /** @description How often it was opened */
            opens?: number;
            /** @description when a scheduled email is due */
            scheduledAt?: string | null;
            /** @description When it was sent */
            sentAt?: string | null;
            /**
             * @description Its state
             * @enum {string}
             */
            status?: "PENDING" | "SENDING" | "SENT" | "DELIVERED" | "OPENED" | "CLICKED" | "BOUNCED" | "COMPLAINED" | "FAILED" | "SKIPPED" | "SUPPRESSED" | "CANCELLED";
            /** @description cut after 1,000 characters */
            subject?: string | null;
            /** @description Words by which the email is found */
            tags?: string[];
            /** @description The template */
            templateId?: string | null;
            /** @description null once its contact was erased */
            to?: string | null;
            /** @description what it is about */
            topicId?: string | null;
            /**
             * @description the current type of its campaign or template
             * @enum {string}
             */
            type?: "TRANSACTIONAL" | "MARKETING" | "HEADLESS";
            /** @description When its recipient unsubscribed by it */
            unsubscribedAt?: string | null;
            /** @description The workflow */
            workflowId?: string | null;
        };
        /** @description An event in an export */
        ExportedEvent: {
            /** @description The address of the contact */
            contactEmail?: string | null;
            /** @description The contact */
            contactId?: string | null;
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt?: string;
            /** @description Custom data */
            data?: {
                [key: string]: unknown;
            };
            /** @description The email */
            emailId?: string | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id?: string;
            /** @description The name */
            name?: string;
        };
        /** @description From how many contacts a field is removed */
        FieldDeletion: {
            /** @description How many contacts had it */
            deletedFrom: number;
            /**
             * Format: uuid
             * @description The job that removes it, when many contacts have it
             */
            jobId?: string;
        };
        /** @description One fault of one field */
        FieldError: {
            /**
             * @description The kind of fault
             * @example invalid_type
             * @example reserved_event
             */
            code: string;
            /**
             * @description The path of the field, with dots
             * @example attachments.0.filename
             */
            field: string;
            /**
             * @description What is wrong with it
             * @example Invalid email address
             */
            message: string;
            /** @description The value, when it is short and plain */
            received?: unknown;
        };
        /** @description What uses a field */
        FieldUsage: {
            /** @description How many contacts have the field */
            contactCount: number;
            /** @description Campaigns that use it */
            usedInCampaigns: components["schemas"]["CampaignReference"][];
            /** @description Segments that use it */
            usedInSegments: components["schemas"]["Reference"][];
            /** @description Workflows that use it */
            usedInWorkflows: components["schemas"]["Reference"][];
        };
        /** @description Distinct values of a field */
        FieldValues: {
            /** @description How many there are */
            count: number;
            /** @description The name of the field */
            field: string;
            /** @description How many values were asked for at most */
            limit: number;
            /** @description The values */
            values: unknown[];
        };
        /** @description One test of one field */
        Filter: {
            /**
             * @description `email`, `subscribed`, `createdAt`, `topic.<key>`, `data.<key>`, or the name of an event
             * @example data.plan
             * @example email
             * @example signed_up
             */
            field: string;
            /**
             * @description How the field is compared
             * @enum {string}
             */
            operator: "equals" | "notEquals" | "contains" | "notContains" | "greaterThan" | "lessThan" | "greaterThanOrEqual" | "lessThanOrEqual" | "exists" | "notExists" | "within" | "olderThan" | "triggered" | "triggeredWithin" | "triggeredOlderThan" | "notTriggered" | "notTriggeredWithin" | "memberOfSegment" | "notMemberOfSegment";
            /**
             * @description Of time windows: what `value` counts
             * @enum {string}
             */
            unit?: "days" | "hours" | "minutes";
            /**
             * @description What it is compared with; the number of units for time windows
             * @example pro
             * @example 30
             */
            value?: unknown;
        };
        /** @description Groups of filters, joined by `logic`; they nest */
        FilterCondition: {
            /** @description What `logic` joins */
            groups: components["schemas"]["FilterGroup"][];
            /**
             * @description Whether all groups must hold, or one of them
             * @enum {string}
             */
            logic: "AND" | "OR";
        };
        /** @description Filters that must all hold, and a nested condition beside them */
        FilterGroup: {
            /** @description A nested condition, which must hold, too */
            conditions?: components["schemas"]["FilterCondition"];
            /** @description All of them must hold */
            filters: components["schemas"]["Filter"][];
        };
        /** @description A tree of filters */
        FilterTree: {
            /** @description The tree */
            condition: components["schemas"]["FilterCondition"];
        };
        /** @description The body of findRecords */
        FindRecordsRequest: {
            /**
             * @description A text/plain part of your own; without one, it is made from the body. It may hold {{placeholders}}
             * @example ada@
             */
            text: string;
        };
        /** @description A required field is missing. It has no `success`, which every other error has. */
        FlatError: {
            /**
             * @description Which required field is missing
             * @example Email is required
             */
            error: string;
        };
        /** @description What is wrong */
        ForbiddenError: {
            /**
             * @description What is wrong, for programs
             * @enum {string}
             */
            code: "PROJECT_DISABLED" | "ROLE_REFUSED" | "INTERNAL_SERVER_ERROR";
            /** @description More about it, for programs */
            details?: components["schemas"]["SenderRefusal"];
            /** @description The faulty fields */
            errors?: components["schemas"]["FieldError"][];
            /**
             * @description What is wrong, for people
             * @example This project is disabled
             * @example The role of this key does not allow this
             * @example The sender domain cannot be used
             */
            message: string;
            /** @description The same as in the header X-Request-ID */
            requestId: string;
            /**
             * @description The HTTP status
             * @constant
             */
            statusCode: 403;
            /**
             * @description What to do about it
             * @example Check the key
             */
            suggestion?: string;
        };
        /** @description The answer with status 403 */
        ForbiddenResponse: {
            /** @description What went wrong; null when nothing did */
            error: components["schemas"]["ForbiddenError"];
            /**
             * @description Always false
             * @constant
             */
            success: false;
            /**
             * Format: date-time
             * @description When it was answered
             */
            timestamp: string;
        };
        /** @description A record that was found */
        FoundRecord: {
            /**
             * @description what else tells it from others
             * @example waiting
             */
            hint: string | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /**
             * @description what it is
             * @enum {string}
             */
            kind: "contact" | "email" | "campaign" | "automation" | "execution" | "template" | "segment" | "webhook";
            /**
             * @description of an execution: its workflow
             * @example 01997c1e-5b7a-7c3e-8f2a-6d1e0b9a4c21
             */
            parentId: string | null;
            /**
             * @description its name, or its address
             * @example ada@example.com
             */
            title: string;
        };
        /** @description What was found */
        FoundRecords: {
            /** @description The DNS records to set up */
            records: components["schemas"]["FoundRecord"][];
        };
        /** @description A request to an endpoint, with its (first) event */
        FoundWebhookDelivery: {
            /** @description How often it was sent */
            attempts: number;
            /** @description The contact */
            contactId: string | null;
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description Milliseconds until the last answer */
            durationMs: number | null;
            /** @description What went wrong; null when nothing did */
            error: string | null;
            /** @description Events of the request */
            eventCount: number;
            /**
             * Format: uuid
             * @description The event, or the first of several
             */
            eventId: string;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description Its `webhook-id`; null where the request had several events */
            messageId: string | null;
            /** @description The event as it is sent, built again from its record; null where that is gone */
            payload: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: date-time
             * @description When the event was stored
             */
            recordedAt: string;
            /** @description When it is tried again; null where nothing waits */
            retryAt: string | null;
            /**
             * @description Its state
             * @enum {string}
             */
            status: "RETRYING" | "DELIVERED" | "FAILED";
            /** @description Of the last answer */
            statusCode: number | null;
            /** @description The name of that event */
            type: string;
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
        };
        /** @description The last fifty */
        GetCampaignHistoryResponse: {
            /** @description What was done */
            entries: components["schemas"]["AuditEntry"][];
        };
        /** @description What uses it, and how many emails were sent from it */
        GetTemplateUsageResponse: {
            /** @description Campaigns that use it */
            campaigns: components["schemas"]["CampaignReference"][];
            /** @description How many emails were made from it */
            emailsSent: number;
            /** @description Steps that use it */
            workflowSteps: components["schemas"]["StepReference"][];
        };
        /** @description What is wrong */
        HeadersTooLargeError: {
            /**
             * @description What is wrong, for programs
             * @enum {string}
             */
            code: "HEADERS_TOO_LARGE";
            /**
             * @description More about it, for programs
             * @example {
             *       "field": "status"
             *     }
             */
            details?: {
                [key: string]: unknown;
            };
            /** @description The faulty fields */
            errors?: components["schemas"]["FieldError"][];
            /**
             * @description What is wrong, for people
             * @example The request line and headers are too large
             */
            message: string;
            /** @description The same as in the header X-Request-ID */
            requestId: string;
            /**
             * @description The HTTP status
             * @constant
             */
            statusCode: 431;
            /**
             * @description What to do about it
             * @example Check the key
             */
            suggestion?: string;
        };
        /** @description The answer with status 431 */
        HeadersTooLargeResponse: {
            /** @description What went wrong; null when nothing did */
            error: components["schemas"]["HeadersTooLargeError"];
            /**
             * @description Always false
             * @constant
             */
            success: false;
            /**
             * Format: date-time
             * @description When it was answered
             */
            timestamp: string;
        };
        /** @description A field of the request that had no effect */
        IgnoredField: {
            /** @description its path, such as `attachments.0.name` */
            field: string;
            /** @description What has happened, for people */
            message: string;
        };
        /** @description A form */
        ImportContactsRequest: {
            /**
             * Format: binary
             * @description The CSV file, at most 5 MB
             */
            file: string;
            /**
             * @description What a column is, as `<column>:<target>`: `email`, `subscribed`, `trackingAllowed`, `ignored`, a topic such as `topic.news`, or a key of the data such as `data.plan`. It may be given several times, and as a field of the form, too
             * @example [
             *       "Kontakt:email",
             *       "Ort:data.city"
             *     ]
             */
            map?: string[];
        };
        /** @description What a column of the file became */
        ImportedColumn: {
            /**
             * @description email, subscribed, trackingAllowed, ignored, `topic.<key>`, or `data.<key>`
             * @example data.plan
             */
            becomes: string;
            /** @description Its name in the file */
            column: string;
        };
        /** @description A row that was not imported */
        ImportError: {
            /** @description The email address */
            email: string | null;
            /** @description What went wrong; null when nothing did */
            error: string;
            /** @description The row of the file; the header is row 1 */
            row: number;
        };
        /** @description An import of contacts */
        ImportJob: {
            /** @description Why the job has failed; null when it has not */
            failedReason: string | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description Percent of the work that is done */
            progress: number;
            /** @description What the job has done; null while it has not ended */
            result: components["schemas"]["ImportResult"] | null;
            /**
             * @description What has become of it
             * @enum {string}
             */
            state: "waiting" | "active" | "completed" | "failed";
        };
        /** @description What an import has done */
        ImportResult: {
            /** @description What each column of the file became */
            columns: components["schemas"]["ImportedColumn"][];
            /** @description How many contacts were created */
            createdCount: number;
            /** @description The first 100; rows count as in a spreadsheet, the header being row 1 */
            errors: components["schemas"]["ImportError"][];
            /** @description How many could not be done */
            failureCount: number;
            /** @description How many rows the file has */
            totalRows: number;
            /** @description How many contacts were updated */
            updatedCount: number;
        };
        /** @description A form */
        ImportSuppressionsRequest: {
            /**
             * Format: binary
             * @description The CSV file, at most 5 MB
             */
            file: string;
            /**
             * @description What a column is, as `<column>:<target>`: `email`, `subscribed`, `trackingAllowed`, `ignored`, a topic such as `topic.news`, or a key of the data such as `data.plan`. It may be given several times, and as a field of the form, too
             * @example [
             *       "Kontakt:email",
             *       "Ort:data.city"
             *     ]
             */
            map?: string[];
        };
        /** @description What was stored */
        ImportSuppressionsResponse: {
            /** @description How many were added */
            added: number;
            /** @description the first hundred rows that could not be stored */
            errors: components["schemas"]["SuppressionRowError"][];
            /** @description How many could not be done */
            failureCount: number;
            /** @description rows whose address was suppressed already, or is in the file more than once */
            present: number;
            /** @description How many rows the file has */
            totalRows: number;
        };
        /** @description What is wrong */
        InternalError: {
            /**
             * @description What is wrong, for programs
             * @enum {string}
             */
            code: "INTERNAL_SERVER_ERROR";
            /**
             * @description More about it, for programs
             * @example {
             *       "field": "status"
             *     }
             */
            details?: {
                [key: string]: unknown;
            };
            /** @description The faulty fields */
            errors?: components["schemas"]["FieldError"][];
            /**
             * @description What is wrong, for people
             * @example An unexpected error occurred
             */
            message: string;
            /** @description The same as in the header X-Request-ID */
            requestId: string;
            /**
             * @description The HTTP status
             * @constant
             */
            statusCode: 500;
            /**
             * @description What to do about it
             * @example Check the key
             */
            suggestion?: string;
        };
        /** @description The answer with status 500 */
        InternalResponse: {
            /** @description What went wrong; null when nothing did */
            error: components["schemas"]["InternalError"];
            /**
             * @description Always false
             * @constant
             */
            success: false;
            /**
             * Format: date-time
             * @description When it was answered
             */
            timestamp: string;
        };
        /** @description A key, without the key itself */
        Key: {
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description From when on it is refused; null means never */
            expiresAt: string | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description Whether it made this request */
            isCurrent: boolean;
            /** @description When it was last used, to the minute */
            lastUsedAt: string | null;
            /**
             * @description The name
             * @example Shop server
             */
            name: string;
            /**
             * @description What it may call
             * @enum {string}
             */
            role: "full" | "send" | "marketing" | "support" | "read" | "track";
            /** @description The only domains that it may send from */
            senderDomains: string[] | null;
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
        };
        /** @description A page of activities */
        ListActivityResponse: {
            /** @description Where the next page begins; empty on the last one */
            cursor: string;
            /** @description Custom data */
            data: components["schemas"]["Activity"][];
            /** @description Whether there is another page */
            hasMore: boolean;
        };
        /** @description A page of entries */
        ListAuditResponse: {
            /** @description Where the next page begins; empty on the last one */
            cursor: string;
            /** @description What was done */
            entries: components["schemas"]["AuditEntry"][];
            /** @description Whether there is another page */
            hasMore: boolean;
        };
        /** @description The links */
        ListCampaignLinksResponse: {
            /** @description the link that most people clicked first */
            links: components["schemas"]["CampaignLink"][];
        };
        /** @description A page of recipients, or all of them as CSV */
        ListCampaignRecipientsResponse: {
            /** @description Where the next page begins; empty on the last one */
            cursor: string;
            /** @description Whether there is another page */
            hasMore: boolean;
            /** @description The recipients */
            recipients: components["schemas"]["Recipient"][];
        };
        /** @description The reasons */
        ListCampaignUnreachedResponse: {
            /** @description the most frequent first */
            reasons: components["schemas"]["UnreachedReason"][];
        };
        /** @description An event with the address of its contact */
        ListedEvent: {
            /** @description The contact of the event; null when it has none */
            contact: components["schemas"]["EventContact"] | null;
            /** @description The contact */
            contactId: string | null;
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description What was recorded with it */
            data: {
                [key: string]: unknown;
            };
            /** @description The email */
            emailId: string | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description The name */
            name: string;
            /**
             * Format: uuid
             * @description The project that it belongs to
             */
            projectId: string;
        };
        /** @description An execution in a list */
        ListedExecution: {
            /** @description When it ended; null while it has not */
            completedAt: string | null;
            /** @description Null when the contact has been deleted */
            contact: components["schemas"]["ExecutionContact"] | null;
            /**
             * Format: uuid
             * @description The contact
             */
            contactId: string;
            /** @description The event that started it, or what was given at the start; steps read it as `event.<key>` */
            context: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description The step where it is; null when it has ended */
            currentStep: components["schemas"]["ExecutedStep"] | null;
            /** @description The step where it is; null when it has ended */
            currentStepId: string | null;
            /** @description The reason that the EXIT step gives */
            exitReason: string | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /**
             * Format: date-time
             * @description When it began
             */
            startedAt: string;
            /**
             * @description Its state
             * @enum {string}
             */
            status: "RUNNING" | "WAITING" | "COMPLETED" | "EXITED" | "FAILED" | "CANCELLED";
            /** @description Null until its first step is done */
            temporalRunId: string | null;
            /** @description The execution in Temporal */
            temporalWorkflowId: string;
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
            /**
             * Format: uuid
             * @description The workflow
             */
            workflowId: string;
        };
        /** @description An automation in a list */
        ListedWorkflow: {
            /** @description How many it has of each */
            _count: components["schemas"]["WorkflowCounts"];
            /** @description Whether a contact may go through it again once an earlier execution has ended */
            allowReentry: boolean;
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description A note for yourself; recipients do not see it */
            description: string | null;
            /** @description Whether it starts executions */
            enabled: boolean;
            /** @description How many of its executions have failed */
            failedExecutions: number;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description The name */
            name: string;
            /**
             * Format: uuid
             * @description The project that it belongs to
             */
            projectId: string;
            /** @description What starts it */
            triggerConfig: components["schemas"]["WorkflowTrigger"];
            /**
             * @description Whether an event starts it, or POST /workflows/{id}/executions alone
             * @enum {string}
             */
            triggerType: "EVENT" | "MANUAL";
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
        };
        /** @description A page of emails */
        ListEmailsResponse: {
            /** @description Where the next page begins; empty on the last one */
            cursor: string;
            /** @description The emails */
            emails: components["schemas"]["Email"][];
            /** @description Whether there is another page */
            hasMore: boolean;
        };
        /** @description The most frequent first; those with more than 10,000 events come in alphabetical order */
        ListEventNamesResponse: {
            /** @description The names */
            eventNames: string[];
        };
        /** @description A page of suppressions, or all of them as CSV */
        ListSuppressionsResponse: {
            /** @description Where the next page begins; empty on the last one */
            cursor: string;
            /** @description Whether there is another page */
            hasMore: boolean;
            /** @description The suppressions */
            suppressions: components["schemas"]["Suppression"][];
        };
        /** @description A page of deliveries */
        ListWebhookDeliveriesResponse: {
            /** @description Where the next page begins; empty on the last one */
            cursor: string;
            /** @description The requests, the latest first */
            deliveries: components["schemas"]["WebhookDelivery"][];
            /** @description Whether there is another page */
            hasMore: boolean;
        };
        /** @description The fields with their types */
        ListWorkflowFieldsResponse: {
            /** @description The fields */
            fields: components["schemas"]["WorkflowField"][];
        };
        /** @description A page of workflows */
        ListWorkflowsResponse: {
            /** @description The items */
            data: components["schemas"]["ListedWorkflow"][];
            /** @description How many executions of all workflows of the project have failed */
            failedExecutions: number;
            /** @description The number of the page, from 1 */
            page: number;
            /** @description How many items a page has, at most 100; more counts as 100 */
            pageSize: number;
            /** @description How many there are in all */
            total: number;
            /** @description How many pages there are */
            totalPages: number;
        };
        /** @description The body of lookUpContacts */
        LookUpContactsRequest: {
            /** @description The emails */
            emails: string[];
        };
        /** @description The addresses as they were sent, in their order */
        LookUpContactsResponse: {
            /** @description Addresses that have a contact */
            found: string[];
            /** @description Addresses that have no contact */
            notFound: string[];
        };
        /** @description A file of a message */
        MessageAttachment: {
            /**
             * @description its size in octets
             * @example 2048
             */
            bytes: number;
            /** @description The MIME type */
            contentType: string;
            /** @description The name of the file */
            filename: string;
        };
        /** @description A header field of a message */
        MessageHeader: {
            /** @description The name */
            name: string;
            /** @description unfolded */
            value: string;
        };
        /** @description An event by its name, of a contact by its id or of nobody */
        NamedEvent: {
            /**
             * Format: uuid
             * @description The contact
             */
            contactId?: string;
            /** @description Kept with the event alone */
            data?: {
                [key: string]: unknown;
            };
            /**
             * @description The name
             * @example signed_up
             */
            name: string;
        };
        /** @description A step of type CONDITION */
        NewConditionStep: {
            /**
             * @description Add a transition to it from the newest step that has none
             * @default false
             */
            autoConnect?: boolean;
            /** @description What the step does; its shape depends on the type */
            config: components["schemas"]["ConditionConfig"];
            /** @description The type when omitted */
            name?: string;
            /**
             * @description Where an editor draws the step
             * @default {
             *       "x": 0,
             *       "y": 0
             *     }
             */
            position?: components["schemas"]["StepPosition"];
            /** @description The template of a SEND_EMAIL step */
            templateId?: string | null;
            /**
             * @description The kind (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "CONDITION";
        };
        /** @description A step of type DELAY */
        NewDelayStep: {
            /**
             * @description Add a transition to it from the newest step that has none
             * @default false
             */
            autoConnect?: boolean;
            /** @description What the step does; its shape depends on the type */
            config: components["schemas"]["DelayConfig"];
            /** @description The type when omitted */
            name?: string;
            /**
             * @description Where an editor draws the step
             * @default {
             *       "x": 0,
             *       "y": 0
             *     }
             */
            position?: components["schemas"]["StepPosition"];
            /** @description The template of a SEND_EMAIL step */
            templateId?: string | null;
            /**
             * @description The kind (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "DELAY";
        };
        /** @description A step of type EXIT */
        NewExitStep: {
            /**
             * @description Add a transition to it from the newest step that has none
             * @default false
             */
            autoConnect?: boolean;
            /** @description What the step does; its shape depends on the type */
            config?: components["schemas"]["ExitConfig"];
            /** @description The type when omitted */
            name?: string;
            /**
             * @description Where an editor draws the step
             * @default {
             *       "x": 0,
             *       "y": 0
             *     }
             */
            position?: components["schemas"]["StepPosition"];
            /** @description The template of a SEND_EMAIL step */
            templateId?: string | null;
            /**
             * @description The kind (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "EXIT";
        };
        /** @description A step of type SEND_EMAIL */
        NewSendEmailStep: {
            /**
             * @description Add a transition to it from the newest step that has none
             * @default false
             */
            autoConnect?: boolean;
            /** @description What the step does; its shape depends on the type */
            config?: components["schemas"]["SendEmailConfig"];
            /** @description The type when omitted */
            name?: string;
            /**
             * @description Where an editor draws the step
             * @default {
             *       "x": 0,
             *       "y": 0
             *     }
             */
            position?: components["schemas"]["StepPosition"];
            /** @description The template of a SEND_EMAIL step */
            templateId?: string | null;
            /**
             * @description The kind (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "SEND_EMAIL";
        };
        /** @description What starts it */
        NewTrigger: {
            /**
             * @description The name of the event
             * @example signed_up
             * @example email.open
             * @example segment.vip.entry
             */
            eventName: string;
            /**
             * @description Whether events of machines are left out: opens and clicks with `isMachine`
             * @example true
             */
            humanOnly?: boolean;
        };
        /** @description A step of type UPDATE_CONTACT */
        NewUpdateContactStep: {
            /**
             * @description Add a transition to it from the newest step that has none
             * @default false
             */
            autoConnect?: boolean;
            /** @description What the step does; its shape depends on the type */
            config: components["schemas"]["UpdateContactConfig"];
            /** @description The type when omitted */
            name?: string;
            /**
             * @description Where an editor draws the step
             * @default {
             *       "x": 0,
             *       "y": 0
             *     }
             */
            position?: components["schemas"]["StepPosition"];
            /** @description The template of a SEND_EMAIL step */
            templateId?: string | null;
            /**
             * @description The kind (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "UPDATE_CONTACT";
        };
        /** @description A step of type WAIT_FOR_EVENT */
        NewWaitForEventStep: {
            /**
             * @description Add a transition to it from the newest step that has none
             * @default false
             */
            autoConnect?: boolean;
            /** @description What the step does; its shape depends on the type */
            config: components["schemas"]["WaitForEventConfig"];
            /** @description The type when omitted */
            name?: string;
            /**
             * @description Where an editor draws the step
             * @default {
             *       "x": 0,
             *       "y": 0
             *     }
             */
            position?: components["schemas"]["StepPosition"];
            /** @description The template of a SEND_EMAIL step */
            templateId?: string | null;
            /**
             * @description The kind (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "WAIT_FOR_EVENT";
        };
        /** @description A step of type WEBHOOK */
        NewWebhookStep: {
            /**
             * @description Add a transition to it from the newest step that has none
             * @default false
             */
            autoConnect?: boolean;
            /** @description What the step does; its shape depends on the type */
            config: components["schemas"]["WebhookConfig"];
            /** @description The type when omitted */
            name?: string;
            /**
             * @description Where an editor draws the step
             * @default {
             *       "x": 0,
             *       "y": 0
             *     }
             */
            position?: components["schemas"]["StepPosition"];
            /** @description The template of a SEND_EMAIL step */
            templateId?: string | null;
            /**
             * @description The kind (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "WEBHOOK";
        };
        /** @description What is wrong */
        NotFoundError: {
            /**
             * @description What is wrong, for programs
             * @enum {string}
             */
            code: "RESOURCE_NOT_FOUND" | "CONTACT_NOT_FOUND" | "TEMPLATE_NOT_FOUND" | "CAMPAIGN_NOT_FOUND" | "SEGMENT_NOT_FOUND" | "TOPIC_NOT_FOUND" | "WORKFLOW_NOT_FOUND" | "EXECUTION_NOT_FOUND" | "DOMAIN_NOT_FOUND" | "JOB_NOT_FOUND" | "WEBHOOK_NOT_FOUND";
            /**
             * @description More about it, for programs
             * @example {
             *       "field": "status"
             *     }
             */
            details?: {
                [key: string]: unknown;
            };
            /** @description The faulty fields */
            errors?: components["schemas"]["FieldError"][];
            /**
             * @description What is wrong, for people
             * @example Not found
             * @example Contact not found
             * @example Template not found
             * @example Campaign not found
             * @example Segment not found
             * @example Topic not found
             * @example Workflow not found
             * @example Execution not found
             * @example Domain not found
             * @example Job not found
             * @example Webhook endpoint not found
             */
            message: string;
            /** @description The same as in the header X-Request-ID */
            requestId: string;
            /**
             * @description The HTTP status
             * @constant
             */
            statusCode: 404;
            /**
             * @description What to do about it
             * @example Check the key
             */
            suggestion?: string;
        };
        /** @description The answer with status 404 */
        NotFoundResponse: {
            /** @description What went wrong; null when nothing did */
            error: components["schemas"]["NotFoundError"];
            /**
             * @description Always false
             * @constant
             */
            success: false;
            /**
             * Format: date-time
             * @description When it was answered
             */
            timestamp: string;
        };
        /** @description The key that made the request */
        OwnKey: {
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /**
             * @description The name
             * @example Shop server
             */
            name: string;
            /**
             * @description What it may call
             * @enum {string}
             */
            role: "full" | "send" | "marketing" | "support" | "read" | "track";
        };
        /** @description The project of the key, and the key */
        OwnProject: {
            /** @description The colour of buttons and links on the pages for recipients */
            brandColor: string | null;
            /**
             * @description How much of a client's address the record of consent keeps: all of it, its network (/24 of IPv4, /48 of IPv6), or nothing
             * @enum {string}
             */
            clientAddresses: "FULL" | "SHORTENED" | "NONE";
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description The name that recipients see; null for the name of the project */
            displayName: string | null;
            /** @description How subscriptions through forms are confirmed */
            doubleOptIn: components["schemas"]["DoubleOptIn"];
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description The key that made the request */
            key: components["schemas"]["OwnKey"];
            /** @description The language of recipients whose own is not known; null for English */
            language: ("en" | "de" | "fr" | "es" | "it" | "nl" | "pt" | "ar" | "he" | "ja") | null;
            /** @description A picture above the footer and the pages */
            logoUrl: string | null;
            /** @description The name */
            name: string;
            /** @description The address of the sender in the footer of MARKETING email */
            postalAddress: string | null;
            /**
             * @description The public key
             * @example pk_…
             */
            public: string;
            /** @description What the public key may do; null means everything that it can do */
            publicKeyRules: components["schemas"]["PublicKeyRules"] | null;
            /** @description The most that the project sends to providers, over all sources. The rules of the installation hold as well, so they can only lower a rate */
            trafficRules: components["schemas"]["TrafficRule"][] | null;
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
        };
        /** @description What is wrong */
        PayloadTooLargeError: {
            /**
             * @description What is wrong, for programs
             * @enum {string}
             */
            code: "PAYLOAD_TOO_LARGE";
            /**
             * @description More about it, for programs
             * @example {
             *       "field": "status"
             *     }
             */
            details?: {
                [key: string]: unknown;
            };
            /** @description The faulty fields */
            errors?: components["schemas"]["FieldError"][];
            /**
             * @description What is wrong, for people
             * @example The request body is too large
             */
            message: string;
            /** @description The same as in the header X-Request-ID */
            requestId: string;
            /**
             * @description The HTTP status
             * @constant
             */
            statusCode: 413;
            /**
             * @description What to do about it
             * @example Check the key
             */
            suggestion?: string;
        };
        /** @description The answer with status 413 */
        PayloadTooLargeResponse: {
            /** @description What went wrong; null when nothing did */
            error: components["schemas"]["PayloadTooLargeError"];
            /**
             * @description Always false
             * @constant
             */
            success: false;
            /**
             * Format: date-time
             * @description When it was answered
             */
            timestamp: string;
        };
        /** @description The body of previewTemplate */
        PreviewTemplateRequest: {
            /** @description The data of the recipient */
            data: {
                [key: string]: unknown;
            };
            /**
             * Format: email
             * @description The address of the recipient
             * @default reader@example.com
             */
            email?: string;
        };
        /** @description The project of the key */
        Project: {
            /** @description The colour of buttons and links on the pages for recipients */
            brandColor: string | null;
            /**
             * @description How much of a client's address the record of consent keeps: all of it, its network (/24 of IPv4, /48 of IPv6), or nothing
             * @enum {string}
             */
            clientAddresses: "FULL" | "SHORTENED" | "NONE";
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description The name that recipients see; null for the name of the project */
            displayName: string | null;
            /** @description How subscriptions through forms are confirmed */
            doubleOptIn: components["schemas"]["DoubleOptIn"];
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description The language of recipients whose own is not known; null for English */
            language: ("en" | "de" | "fr" | "es" | "it" | "nl" | "pt" | "ar" | "he" | "ja") | null;
            /** @description A picture above the footer and the pages */
            logoUrl: string | null;
            /** @description The name */
            name: string;
            /** @description The address of the sender in the footer of MARKETING email */
            postalAddress: string | null;
            /**
             * @description The public key
             * @example pk_…
             */
            public: string;
            /** @description What the public key may do; null means everything that it can do */
            publicKeyRules: components["schemas"]["PublicKeyRules"] | null;
            /** @description The most that the project sends to providers, over all sources. The rules of the installation hold as well, so they can only lower a rate */
            trafficRules: components["schemas"]["TrafficRule"][] | null;
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
        };
        /** @description Complaints at a provider of recipients in seven days */
        ProviderComplaints: {
            /** @description Percent that were reported as spam */
            complaintRate: number;
            /** @description Emails that were reported as spam */
            complaints: number;
            /** @description The provider of the recipients, as a domain */
            provider: string;
            /** @description Emails that were sent */
            sent: number;
        };
        /** @description Why a campaign waits for a provider of recipients */
        ProviderWait: {
            /** @description The provider of the recipients, as a domain */
            provider: string;
            /** @description Why */
            reason: string;
            /** @description the SMTP servers that the emails would go through, as `host:port` */
            relay: string | null;
            /**
             * Format: date-time
             * @description Until when
             */
            until: string;
        };
        /** @description What the public key may do; null means everything that it can do */
        PublicKeyRules: {
            /**
             * @description Whether steps may call a host, or write to an address, that contact data or an event names
             * @default true
             */
            dataTargets?: boolean;
            /**
             * @description Keys of `data` that are stored on the contact; null means all
             * @default null
             * @example [
             *       "plan"
             *     ]
             */
            fields?: string[] | null;
            /**
             * @description Whether a request subscribes a contact again that has opted out, or left a topic
             * @default true
             */
            resubscribe?: boolean;
            /**
             * @description Whether `subscribed`, `topics` and `trackingAllowed` of a request are followed
             * @default true
             */
            subscribed?: boolean;
        };
        /** @description What waits in the project */
        Queue: {
            /** @description the kind whose oldest item has been due for longest comes first; kinds without waiting items are left out */
            waiting: components["schemas"]["WaitingItems"][];
        };
        /** @description The job that does it in the background */
        QueuedJob: {
            /**
             * Format: uuid
             * @description The job, whose state can be polled
             */
            jobId: string;
            /** @description What has happened, for people */
            message: string;
        };
        /** @description What is wrong */
        RateLimitError: {
            /**
             * @description What is wrong, for programs
             * @enum {string}
             */
            code: "RATE_LIMIT_EXCEEDED";
            /**
             * @description More about it, for programs
             * @example {
             *       "field": "status"
             *     }
             */
            details?: {
                [key: string]: unknown;
            };
            /** @description The faulty fields */
            errors?: components["schemas"]["FieldError"][];
            /**
             * @description What is wrong, for people
             * @example Rate limit exceeded
             */
            message: string;
            /** @description The same as in the header X-Request-ID */
            requestId: string;
            /**
             * @description The HTTP status
             * @constant
             */
            statusCode: 429;
            /**
             * @description What to do about it
             * @example Check the key
             */
            suggestion?: string;
        };
        /** @description The answer with status 429 */
        RateLimitResponse: {
            /** @description What went wrong; null when nothing did */
            error: components["schemas"]["RateLimitError"];
            /**
             * @description Always false
             * @constant
             */
            success: false;
            /**
             * Format: date-time
             * @description When it was answered
             */
            timestamp: string;
        };
        /** @description What became of a recipient of a campaign */
        Recipient: {
            /** @description When it bounced */
            bouncedAt: string | null;
            /** @description When a link in it was first clicked */
            clickedAt: string | null;
            /** @description When its recipient reported it as spam */
            complainedAt: string | null;
            /** @description The contact */
            contactId: string | null;
            /** @description How many attempts a server answered by asking for another one */
            deferrals: number;
            /** @description When a server accepted it */
            deliveredAt: string | null;
            /** @description null once its contact was erased */
            email: string | null;
            /**
             * Format: uuid
             * @description The email
             */
            emailId: string;
            /** @description When a person first clicked a link in it */
            humanClickedAt: string | null;
            /** @description When a person first opened it, or clicked a link in it */
            humanOpenedAt: string | null;
            /** @description When the next attempt is made; null when there is none */
            nextAttemptAt: string | null;
            /** @description its number in the audience, from 1 */
            number: number;
            /** @description When it was first opened */
            openedAt: string | null;
            /** @description When it was sent */
            sentAt: string | null;
            /**
             * @description What has become of it
             * @enum {string}
             */
            state: "PENDING" | "SENDING" | "SENT" | "DELIVERED" | "OPENED" | "CLICKED" | "BOUNCED" | "COMPLAINED" | "FAILED" | "SKIPPED" | "SUPPRESSED" | "CANCELLED";
            /** @description When its recipient unsubscribed by it */
            unsubscribedAt: string | null;
            /** @description of the server, or why it was not sent */
            words: string | null;
        };
        /** @description The body of recordEvent */
        RecordEventRequest: components["schemas"]["TrackedEvent"] | components["schemas"]["NamedEvent"];
        /** @description A record by id and name */
        Reference: {
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description The name */
            name: string;
        };
        /** @description The count */
        RefreshSegmentResponse: {
            /** @description How many contacts it has */
            memberCount: number;
        };
        /** @description Why an email was refused, as in the error envelope */
        RefusedEmail: {
            /**
             * @description As in the error envelope
             * @example VALIDATION_ERROR
             */
            code: string;
            /**
             * @description More about it, for programs
             * @example {
             *       "recipients": [
             *         "ada@example.com"
             *       ]
             *     }
             */
            details?: {
                [key: string]: unknown;
            };
            /** @description The faults by field */
            errors?: components["schemas"]["FieldError"][];
            /**
             * @description What has happened, for people
             * @example Request validation failed
             */
            message: string;
            /**
             * @description What the request would have answered alone
             * @example 422
             */
            statusCode: number;
            /**
             * @description What to do
             * @example See /docs/errors/VALIDATION_ERROR
             */
            suggestion: string;
        };
        /** @description The project with its new keys */
        RegenerateProjectKeysResponse: {
            /** @description The colour of buttons and links on the pages for recipients */
            brandColor: string | null;
            /**
             * @description How much of a client's address the record of consent keeps: all of it, its network (/24 of IPv4, /48 of IPv6), or nothing
             * @enum {string}
             */
            clientAddresses: "FULL" | "SHORTENED" | "NONE";
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description The name that recipients see; null for the name of the project */
            displayName: string | null;
            /** @description How subscriptions through forms are confirmed */
            doubleOptIn: components["schemas"]["DoubleOptIn"];
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description The language of recipients whose own is not known; null for English */
            language: ("en" | "de" | "fr" | "es" | "it" | "nl" | "pt" | "ar" | "he" | "ja") | null;
            /** @description A picture above the footer and the pages */
            logoUrl: string | null;
            /** @description The name */
            name: string;
            /** @description The address of the sender in the footer of MARKETING email */
            postalAddress: string | null;
            /**
             * @description The public key
             * @example pk_…
             */
            public: string;
            /** @description What the public key may do; null means everything that it can do */
            publicKeyRules: components["schemas"]["PublicKeyRules"] | null;
            /**
             * @description Shown here only
             * @example sk_…
             */
            secret: string;
            /** @description The most that the project sends to providers, over all sources. The rules of the installation hold as well, so they can only lower a rate */
            trafficRules: components["schemas"]["TrafficRule"][] | null;
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
        };
        /** @description The body of removeSegmentMembers */
        RemoveSegmentMembersRequest: {
            /** @description The emails */
            emails: string[];
        };
        /** @description How many left */
        RemoveSegmentMembersResponse: {
            /** @description How many were removed */
            removed: number;
        };
        /** @description The body of removeSuppressionByBody */
        RemoveSuppressionByBodyRequest: {
            /**
             * @description An email address
             * @example ada@example.com
             */
            address: string;
        };
        /** @description The body of replaceCampaign */
        ReplaceCampaignRequest: {
            /** @description The filter that selects the recipients; for FILTERED */
            audienceCondition?: components["schemas"]["FilterCondition"] | null;
            /**
             * @description Who gets it: every contact, a segment, or those that fit a filter
             * @enum {string}
             */
            audienceType: "ALL" | "SEGMENT" | "FILTERED";
            /** @description HTML with {{variables}} */
            body: string;
            /** @description A note for yourself; recipients do not see it */
            description?: string | null;
            /**
             * Format: email
             * @description An address of a verified domain
             */
            from: string;
            /** @description The name of the sender; without one, the display name of the project */
            fromName?: string | null;
            /** @description The name */
            name: string;
            /** @description What lists of emails show beside the subject; it may hold {{placeholders}} */
            preheader?: string | null;
            /** @description The address for replies */
            replyTo?: string | null;
            /** @description The segment; for SEGMENT */
            segmentId?: string | null;
            /**
             * @description The subject; it may hold {{placeholders}}
             * @example Welcome, {{firstName ?? "friend"}}
             */
            subject: string;
            /** @description A text/plain part of your own; without one, it is made from the body. It may hold {{placeholders}} */
            text?: string | null;
            /** @description What it is about; recipients who left this topic do not get it. TRANSACTIONAL email has none */
            topicId?: string | null;
            /**
             * @description The kind
             * @default MARKETING
             * @enum {string}
             */
            type?: "TRANSACTIONAL" | "MARKETING" | "HEADLESS";
        };
        /** @description The body of replayWebhook */
        ReplayWebhookRequest: {
            /**
             * Format: uuid
             * @description This event and everything after it
             */
            eventId?: string;
            /**
             * @description Everything stored since this moment
             * @example 2026-01-31
             * @example 2026-01-31T08:00:00Z
             */
            since?: string;
        };
        /** @description Events are delivered from this moment on */
        ReplayWebhookResponse: {
            /**
             * Format: date-time
             * @description The sender address; its domain must be verified
             */
            from: string;
        };
        /** @description What is wrong */
        RequestTimeoutError: {
            /**
             * @description What is wrong, for programs
             * @enum {string}
             */
            code: "REQUEST_TIMEOUT";
            /**
             * @description More about it, for programs
             * @example {
             *       "field": "status"
             *     }
             */
            details?: {
                [key: string]: unknown;
            };
            /** @description The faulty fields */
            errors?: components["schemas"]["FieldError"][];
            /**
             * @description What is wrong, for people
             * @example The request did not arrive in time
             */
            message: string;
            /** @description The same as in the header X-Request-ID */
            requestId: string;
            /**
             * @description The HTTP status
             * @constant
             */
            statusCode: 408;
            /**
             * @description What to do about it
             * @example Check the key
             */
            suggestion?: string;
        };
        /** @description The answer with status 408 */
        RequestTimeoutResponse: {
            /** @description What went wrong; null when nothing did */
            error: components["schemas"]["RequestTimeoutError"];
            /**
             * @description Always false
             * @constant
             */
            success: false;
            /**
             * Format: date-time
             * @description When it was answered
             */
            timestamp: string;
        };
        /** @description The body of rescheduleEmail */
        RescheduleEmailRequest: {
            /**
             * Format: date-time
             * @description When a scheduled email is due
             */
            scheduledAt: string;
        };
        /** @description The body of resendCampaign */
        ResendCampaignRequest: {
            /** @description States of GET /campaigns/{id}/recipients: FAILED, BOUNCED, SKIPPED, SUPPRESSED */
            states: string[];
        };
        /** @description Who would get a campaign that is sent once more */
        ResendCheck: {
            /** @description Recipients in these states */
            matching: number;
            /** @description Those of them who may get it: not suppressed, unsubscribed, paused or deleted */
            receiving: number;
        };
        /** @description The body of retryFailedWorkflowExecutions */
        RetryFailedWorkflowExecutionsRequest: {
            /** @description Only executions that failed at this step */
            stepId?: string | null;
        };
        /** @description How many have failed; a job goes through them */
        RetryFailedWorkflowExecutionsResponse: {
            /** @description How many executions have failed */
            failed: number;
        };
        /**
         * @description The body of rotateWebhookSecret
         * @default {}
         */
        RotateWebhookSecretRequest: {
            /**
             * @description How long the previous secret signs, too; 0 ends it at once
             * @default 24
             */
            overlapHours?: number;
        };
        /** @description The new secret */
        RotateWebhookSecretResponse: {
            /**
             * Format: date-time
             * @description Until then, requests are signed with the previous secret, too
             */
            previousSecretExpiresAt: string;
            /**
             * @description Shown here only
             * @example whsec_…
             */
            secret: string;
        };
        /** @description The body of searchContacts */
        SearchContactsRequest: {
            /** @description Where the next page begins; empty on the last one */
            cursor?: string;
            /**
             * @description The direction of the order; an unknown value counts as desc
             * @default desc
             * @enum {string}
             */
            dir?: "asc" | "desc";
            /** @description How many items the page may have; more than the largest page counts as the largest page */
            limit?: number;
            /**
             * @description Only contacts who have paused marketing, or only the others
             * @example false
             */
            paused?: boolean;
            /**
             * @description Only contacts who have not confirmed their subscription, or only the others
             * @example true
             */
            pending?: boolean;
            /**
             * @description A part of the text; upper and lower case are alike
             * @example ada@example.com
             */
            search: string;
            /**
             * @description The field that gives the order; an unknown value counts as createdAt
             * @default createdAt
             * @enum {string}
             */
            sort?: "createdAt" | "email";
            /** @description Whether the contact gets marketing email */
            subscribed?: boolean;
        };
        /** @description The body of searchEmails */
        SearchEmailsRequest: {
            /**
             * @description An email address
             * @example ada@example.com
             */
            address: string;
            /**
             * Format: uuid
             * @description The campaign that it belongs to
             * @example 01997c1e-5b7a-7c3e-8f2a-6d1e0b9a4c21
             */
            campaignId?: string;
            /**
             * Format: uuid
             * @description The contact
             */
            contactId?: string;
            /** @description Where the next page begins; empty on the last one */
            cursor?: string;
            /** @description How many items the page may have; more than the largest page counts as the largest page */
            limit?: number;
            /**
             * @description Queued on this day or moment, or later
             * @example 2026-01-31
             * @example 2026-01-31T08:00:00Z
             */
            since?: string;
            /**
             * @description Its state
             * @enum {string}
             */
            status?: "PENDING" | "SENDING" | "SENT" | "DELIVERED" | "OPENED" | "CLICKED" | "BOUNCED" | "COMPLAINED" | "FAILED" | "SKIPPED" | "SUPPRESSED" | "CANCELLED";
            /**
             * @description One of its tags
             * @example receipt
             */
            tag?: string;
            /**
             * Format: uuid
             * @description The template
             * @example 01997c1e-5b7a-7c3e-8f2a-6d1e0b9a4c21
             */
            templateId?: string;
            /**
             * @description The kind
             * @enum {string}
             */
            type?: "TRANSACTIONAL" | "MARKETING" | "HEADLESS";
            /**
             * @description Queued on this day or moment, or earlier
             * @example 2026-01-31
             * @example 2026-01-31T08:00:00Z
             */
            until?: string;
            /**
             * Format: uuid
             * @description The workflow
             */
            workflowId?: string;
        };
        /** @description A page */
        SearchEmailsResponse: {
            /** @description Where the next page begins; empty on the last one */
            cursor: string;
            /** @description The emails */
            emails: components["schemas"]["Email"][];
            /** @description Whether there is another page */
            hasMore: boolean;
        };
        /** @description The body of searchSuppressions */
        SearchSuppressionsRequest: {
            /**
             * @description An email address
             * @example ada@example.com
             */
            address: string;
            /** @description Where the next page begins; empty on the last one */
            cursor?: string;
            /** @description How many items the page may have; more than the largest page counts as the largest page */
            limit?: number;
            /**
             * @description Why
             * @enum {string}
             */
            reason?: "HARD_BOUNCE" | "COMPLAINT" | "MANUAL";
        };
        /** @description A page */
        SearchSuppressionsResponse: {
            /** @description Where the next page begins; empty on the last one */
            cursor: string;
            /** @description Whether there is another page */
            hasMore: boolean;
            /** @description The suppressions */
            suppressions: components["schemas"]["Suppression"][];
        };
        /** @description A group of contacts */
        Segment: {
            /** @description Why it could not be computed in the background; it is tried again at growing intervals */
            computeError: components["schemas"]["ComputeError"] | null;
            /** @description The filter that selects its contacts; null for STATIC */
            condition: components["schemas"]["FilterCondition"] | null;
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description A note for yourself; recipients do not see it */
            description: string | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description Cached; refreshed every five minutes */
            memberCount: number;
            /** @description The name */
            name: string;
            /**
             * Format: uuid
             * @description The project that it belongs to
             */
            projectId: string;
            /** @description Whether events are recorded when contacts join and leave */
            trackMembership: boolean;
            /**
             * @description DYNAMIC: those that fit the condition; STATIC: a list
             * @enum {string}
             */
            type: "DYNAMIC" | "STATIC";
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
        };
        /** @description How the members have changed */
        SegmentChanges: {
            /** @description How many were added */
            added: number;
            /** @description How many were removed */
            removed: number;
            /** @description How many members it has now */
            total: number;
        };
        /** @description A page of items, and how many there are in all */
        SegmentContactPage: {
            /** @description The items */
            data: components["schemas"]["Contact"][];
            /** @description The number of the page, from 1 */
            page: number;
            /** @description How many items a page has, at most 100; more counts as 100 */
            pageSize: number;
            /** @description How many there are in all */
            total: number;
            /** @description How many pages there are */
            totalPages: number;
        };
        /** @description The body of sendBatch */
        SendBatchRequest: {
            /** @description The emails */
            emails: components["schemas"]["BatchEmail"][];
        };
        /** @description The outcome of each email */
        SendBatchResponse: {
            /** @description Custom data */
            data: components["schemas"]["SendBatchResult"];
            /**
             * @description What has happened, for people
             * @example Campaign is being sent
             */
            message?: string;
            /**
             * @description Always true
             * @constant
             */
            success: true;
            /** @description the fields of the request that were ignored */
            warnings?: components["schemas"]["IgnoredField"][];
        };
        /** @description The outcome of each email */
        SendBatchResult: {
            /** @description One for each email, in their order */
            results: components["schemas"]["BatchOutcome"][];
            /**
             * Format: date-time
             * @description When it was
             */
            timestamp: string;
        };
        /** @description The body of sendCampaign */
        SendCampaignRequest: {
            /**
             * @description Any date-time; omitted or null sends at once
             * @example 2026-12-24T08:00:00Z
             */
            scheduledFor?: string | number | null;
        };
        /** @description The campaign, SENDING or SCHEDULED */
        SendCampaignResponse: {
            /** @description Custom data */
            data: components["schemas"]["Campaign"];
            /**
             * @description What has happened, for people
             * @example Campaign is being sent
             */
            message?: string;
            /**
             * @description Always true
             * @constant
             */
            success: true;
        };
        /** @description The config of a SEND_EMAIL step */
        SendEmailConfig: {
            /** @description Whom the email goes to; the contact when left out */
            recipient?: components["schemas"]["SendEmailRecipient"];
            /** @description The template; it may stand beside `config` instead */
            templateId?: string | null;
            /**
             * @description What the email is about; the topic of the template when left out
             * @example 0198c0de-0000-7000-8000-000000000001
             */
            topicId?: string | null;
        };
        /** @description Whom the email goes to; the contact when left out */
        SendEmailRecipient: {
            /** @description The address for CUSTOM, or a placeholder that prints one */
            customEmail?: string | null;
            /**
             * @description The contact of the execution, or another address
             * @enum {string}
             */
            type: "CONTACT" | "CUSTOM";
        };
        /** @description The body of sendEmail */
        SendEmailRequest: {
            /** @description Files of the email */
            attachments?: components["schemas"]["Attachment"][];
            /** @description Recipients of the same message whom nobody sees */
            bcc?: (string | components["schemas"]["Address"]) | (string | components["schemas"]["Address"])[];
            /** @description The content, as HTML with {{placeholders}} */
            body?: string;
            /** @description Recipients of the same message, whom all see */
            cc?: (string | components["schemas"]["Address"]) | (string | components["schemas"]["Address"])[];
            /** @description Patched key by key; null deletes a key */
            data?: {
                [key: string]: unknown;
            };
            /** @description The sender address; its domain must be verified */
            from?: string | components["schemas"]["SenderAddress"];
            /** @description Headers of the email, by name */
            headers?: {
                [key: string]: string;
            };
            /**
             * @deprecated
             * @description Use from: { name, email }
             * @example Ada Lovelace
             */
            name?: string;
            /** @description What lists of emails show beside the subject; it may hold {{placeholders}} */
            preheader?: string;
            /**
             * Format: email
             * @description The address for replies
             */
            reply?: string;
            /**
             * Format: date-time
             * @description When a scheduled email is due
             */
            scheduledAt?: string;
            /** @description The subject; it may hold {{placeholders}} */
            subject?: string;
            /** @description Whether the contact gets marketing email */
            subscribed?: boolean;
            /** @description Words by which the email is found */
            tags?: string[];
            /**
             * Format: uuid
             * @description The template, in place of subject and body
             */
            template?: string;
            /** @description A text/plain part of your own; without one, it is made from the body. It may hold {{placeholders}} */
            text?: string;
            /** @description The recipient */
            to?: (string | components["schemas"]["Address"]) | (string | components["schemas"]["Address"])[];
        };
        /** @description Accepted for delivery */
        SendEmailResponse: {
            /** @description Custom data */
            data: components["schemas"]["SendEmailResult"];
            /**
             * @description What has happened, for people
             * @example Campaign is being sent
             */
            message?: string;
            /**
             * @description Always true
             * @constant
             */
            success: true;
            /** @description the fields of the request that were ignored */
            warnings?: components["schemas"]["IgnoredField"][];
        };
        /** @description Accepted for delivery */
        SendEmailResult: {
            /** @description One for each recipient, in their order: those of `to`, `cc`, then `bcc` */
            emails: components["schemas"]["AcceptedEmail"][];
            /**
             * Format: date-time
             * @description When it was
             */
            timestamp: string;
        };
        /** @description An address with a name */
        SenderAddress: {
            /**
             * Format: email
             * @description The address
             */
            email: string;
            /**
             * @description The name shown beside the address
             * @example Ada Lovelace
             */
            name?: string;
        };
        /** @description Given when a sender domain or the role of a key is refused */
        SenderRefusal: {
            /**
             * @description The sender domain
             * @example mail.example.com
             */
            domain?: string;
            /**
             * @description Why the sender domain is refused
             * @enum {string}
             */
            reason?: "DOMAIN_NOT_REGISTERED" | "DOMAIN_NOT_VERIFIED";
            /**
             * @description The role of the key
             * @enum {string}
             */
            role?: "full" | "send" | "marketing" | "support" | "read" | "track";
            /**
             * @description The roles that would do
             * @example [
             *       "full",
             *       "marketing"
             *     ]
             */
            roles?: ("full" | "send" | "marketing" | "support" | "read" | "track")[];
        } & {
            [key: string]: unknown;
        };
        /** @description The body of setContactTopics */
        SetContactTopicsRequest: {
            /** @description Topics to join (true) or leave (false), by their keys; null returns to the default of the topic */
            topics: {
                [key: string]: boolean | null;
            };
        };
        /** @description The body of startWorkflowExecution */
        StartWorkflowExecutionRequest: {
            /**
             * Format: uuid
             * @description The contact
             */
            contactId: string;
            /** @description The event that started it, or what was given at the start; steps read it as `event.<key>` */
            context?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description What became of a step */
        StepExecution: {
            /** @description When it ended; null while it has not */
            completedAt: string | null;
            /** @description What went wrong; null when nothing did */
            error: string | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description What the step found or did; the keys depend on its type */
            output: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: date-time
             * @description When it began
             */
            startedAt: string;
            /**
             * @description Its state
             * @enum {string}
             */
            status: "PENDING" | "RUNNING" | "WAITING" | "COMPLETED" | "SKIPPED" | "FAILED";
            /** @description The step */
            step: components["schemas"]["ExecutedStep"];
            /**
             * Format: uuid
             * @description The step
             */
            stepId: string;
        };
        /** @description Where an editor draws the step */
        StepPosition: {
            /** @description From the left */
            x: number;
            /** @description From the top */
            y: number;
        };
        /** @description A step of a workflow */
        StepReference: {
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description The name */
            name: string;
            /**
             * Format: uuid
             * @description The workflow
             */
            workflowId: string;
            /** @description The name of the workflow */
            workflowName: string;
        };
        /** @description The body that a WEBHOOK step sends when it has none of its own */
        StepWebhookBody: {
            /** @description The contact; null when it has been deleted */
            contact: components["schemas"]["WebhookContact"];
            /**
             * @description The event that started the execution, or what was given at the start
             * @example {
             *       "plan": "pro"
             *     }
             */
            event: {
                [key: string]: unknown;
            };
            /** @description The execution */
            execution: components["schemas"]["WebhookExecution"];
            /** @description The workflow */
            workflow: components["schemas"]["WebhookWorkflow"];
        };
        /** @description The body of subscribe */
        SubscribeRequest: {
            /**
             * @description A field that people do not see. A request that fills it has no effect
             * @example
             */
            comment?: string;
            /** @description Custom data of the contact, stored when the subscription is confirmed */
            data?: {
                [key: string]: unknown;
            };
            /**
             * Format: email
             * @description The email address
             */
            email: string;
            /**
             * @description From the hosted form: when it was shown. A form that is sent within two seconds has no effect
             * @example 1795647600000.p0dVbWkxR3JtT2VzR2hFZA
             */
            formToken?: string;
            /** @description The language of the person, such as de or de-AT */
            language?: string;
            /**
             * Format: uri
             * @description Where a plain HTML form leads: to a verified sender domain, below one, or to one of `redirectHosts`
             * @example https://www.example.com/thanks
             */
            redirectUrl?: string;
            /**
             * @description Keys of public topics; all newsletters when left out
             * @default []
             * @example [
             *       "news"
             *     ]
             */
            topics?: string[];
            /**
             * @description The words beside the button of the form, for the record of consent
             * @example Send me the newsletter
             */
            wording?: string;
        };
        /** @description Accepted, whatever is known of the address */
        SubscribeResponse: {
            /** @description Custom data */
            data: components["schemas"]["SubscribeResult"];
            /**
             * @description What has happened, for people
             * @example Campaign is being sent
             */
            message?: string;
            /**
             * @description Always true
             * @constant
             */
            success: true;
        };
        /** @description Accepted, whatever is known of the address */
        SubscribeResult: {
            /**
             * @description whatever is known of the address
             * @constant
             */
            accepted: true;
        };
        /** @description An address that gets no email, and why */
        Suppression: {
            /** @description The campaign that it belongs to */
            campaignId: string | null;
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description null once its contact was erased; the address stays suppressed */
            email: string | null;
            /** @description the email that bounced or was complained about */
            emailId: string | null;
            /**
             * @description whether an email led to it, or somebody suppressed the address by hand
             * @enum {string}
             */
            origin: "email" | "manual";
            /**
             * @description Why
             * @enum {string}
             */
            reason: "HARD_BOUNCE" | "COMPLAINT" | "MANUAL";
            /** @description of the server, or of whoever suppressed it by hand */
            words: string | null;
        };
        /** @description A row that could not be stored, and why */
        SuppressionRowError: {
            /** @description As it is written in the row */
            email: string | null;
            /** @description What went wrong; null when nothing did */
            error: string;
            /** @description The row of the file; the header is row 1 */
            row: number;
        };
        /** @description Content that emails are made from */
        Template: {
            /** @description The content, as HTML with {{placeholders}} */
            body: string;
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description A note for yourself; recipients do not see it */
            description: string | null;
            /**
             * @description The sender address; its domain must be verified
             * @example ada@example.com
             */
            from: string;
            /** @description The name of the sender; without one, the display name of the project */
            fromName: string | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description The name */
            name: string;
            /** @description What lists of emails show beside the subject; it may hold {{placeholders}} */
            preheader: string | null;
            /**
             * Format: uuid
             * @description The project that it belongs to
             */
            projectId: string;
            /** @description The address for replies */
            replyTo: string | null;
            /** @description The subject; it may hold {{placeholders}} */
            subject: string;
            /** @description A text/plain part of your own; without one, it is made from the body. It may hold {{placeholders}} */
            text: string | null;
            /** @description What it is about; recipients who left this topic do not get it. TRANSACTIONAL email has none */
            topicId: string | null;
            /**
             * @description The kind
             * @enum {string}
             */
            type: "TRANSACTIONAL" | "MARKETING" | "HEADLESS";
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
        };
        /** @description A page of items, and how many there are in all */
        TemplatePage: {
            /** @description The items */
            data: components["schemas"]["Template"][];
            /** @description The number of the page, from 1 */
            page: number;
            /** @description How many items a page has, at most 100; more counts as 100 */
            pageSize: number;
            /** @description How many there are in all */
            total: number;
            /** @description How many pages there are */
            totalPages: number;
        };
        /** @description A template, rendered */
        TemplatePreview: {
            /**
             * @description The HTML, with the footer of its type
             * @example <p>Hello Ada</p>
             */
            html: string;
            /** @description The subject; it may hold {{placeholders}} */
            subject: string;
            /** @description A text/plain part of your own; without one, it is made from the body. It may hold {{placeholders}} */
            text: string;
        };
        /** @description The body of testCampaign */
        TestCampaignRequest: {
            /**
             * Format: email
             * @description The email address
             */
            email: string;
        };
        /** @description The test email is on its way */
        TestCampaignResponse: {
            /**
             * Format: uuid
             * @description The email record
             */
            email: string;
            /**
             * @description The recipient
             * @example ada@example.com
             */
            to: string;
        };
        /** @description It is on its way */
        TestWebhookResponse: {
            /**
             * Format: uuid
             * @description Its outcome is in the list of deliveries
             */
            deliveryId: string;
        };
        /** @description Something that happened to an email */
        TimelineEntry: {
            /**
             * Format: date-time
             * @description When it happened
             */
            at: string;
            /**
             * @description hard: the address accepts no email; soft: it did not accept this one
             * @enum {string}
             */
            bounceType?: "hard" | "soft";
            /**
             * @description of an open or a click: whether a machine made it
             * @example false
             */
            isMachine?: boolean;
            /**
             * @description The link that was clicked
             * @example https://example.com/news
             */
            link?: string;
            /**
             * @description How it shows that a machine made the open or the click
             * @enum {string}
             */
            machineReason?: "method" | "prefetch" | "user_agent" | "mail_proxy" | "network" | "too_soon" | "many_links" | "hidden_link";
            /**
             * Format: date-time
             * @description When the next attempt is made; null when there is none
             * @example 2026-02-04T09:30:00.000Z
             */
            nextAttemptAt?: string;
            /** @description the rule by which the refusal or the report was judged */
            rule?: string;
            /** @description The server that answered */
            server?: string;
            /**
             * @description The kind
             * @enum {string}
             */
            type: "queued" | "deferred" | "refused" | "accepted" | "delivered" | "opened" | "clicked" | "bounced" | "complained" | "unsubscribed" | "replied" | "failed" | "suppressed";
            /** @description of the server, or why it ended */
            words?: string;
        };
        /** @description Something that contacts may join and leave, such as a newsletter */
        Topic: {
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /**
             * @description opt_in: every subscribed contact gets it until they leave it; opt_out: only those who joined it get it. It never changes
             * @enum {string}
             */
            defaultSubscription: "opt_in" | "opt_out";
            /** @description What readers get; they see it on the preference page */
            description: string | null;
            /** @description Whether a subscription through a form has to be confirmed; null means as the project says */
            doubleOptIn: boolean | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /**
             * @description Names the topic in requests, imports and filters; it never changes
             * @example news
             */
            key: string;
            /**
             * @description What readers see
             * @example News
             */
            name: string;
            /**
             * Format: uuid
             * @description The project that it belongs to
             */
            projectId: string;
            /**
             * @description Name and description in further languages, by language; readers without one see those above
             * @example {
             *       "de": {
             *         "name": "Neuigkeiten",
             *         "description": "Einmal im Monat"
             *       }
             *     }
             */
            texts: {
                [key: string]: components["schemas"]["TopicText"];
            };
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
            /**
             * @description Whether readers see it on the preference page
             * @enum {string}
             */
            visibility: "public" | "private";
        };
        /** @description How many contacts have the topic */
        TopicCounts: {
            /** @description Who has chosen it */
            joined: number;
            /** @description Who has left it */
            left: number;
            /** @description Who has the topic, by choice or by default */
            subscribed: number;
        };
        /** @description A page of items, and how many there are in all */
        TopicPage: {
            /** @description The items */
            data: components["schemas"]["Topic"][];
            /** @description The number of the page, from 1 */
            page: number;
            /** @description How many items a page has, at most 100; more counts as 100 */
            pageSize: number;
            /** @description How many there are in all */
            total: number;
            /** @description How many pages there are */
            totalPages: number;
        };
        /** @description What readers see of a topic in one language */
        TopicText: {
            /**
             * @description A note for yourself; recipients do not see it
             * @example Once a month
             */
            description?: string;
            /** @description The name */
            name: string;
        };
        /** @description What uses a topic, and how many contacts have it */
        TopicUsage: {
            /** @description Campaigns that use it */
            campaigns: components["schemas"]["CampaignReference"][];
            /** @description How many contacts have it */
            contacts: components["schemas"]["TopicCounts"];
            /** @description Segments whose condition refers to it */
            segments: components["schemas"]["Reference"][];
            /** @description Templates that use it */
            templates: components["schemas"]["Reference"][];
            /** @description Steps that use it */
            workflowSteps: components["schemas"]["StepReference"][];
        };
        /** @description An event of the contact with an address */
        TrackedEvent: {
            /** @description Patched key by key; null deletes a key */
            data?: {
                [key: string]: unknown;
            };
            /**
             * Format: email
             * @description The email address
             */
            email: string;
            /**
             * @description The name of the event
             * @example signed_up
             */
            event: string;
            /** @description New contacts: true when omitted */
            subscribed?: boolean;
            /** @description Topics to join (true) or leave (false), by their keys; null returns to the default of the topic */
            topics?: {
                [key: string]: boolean | null;
            };
            /**
             * @description Whether the contact agrees that opens and clicks are recorded; projects of the mode CONSENTED ask for it
             * @example true
             */
            trackingAllowed?: boolean;
        };
        /** @description The body of track */
        TrackRequest: {
            /** @description Patched key by key; null deletes a key */
            data?: {
                [key: string]: unknown;
            };
            /**
             * Format: email
             * @description The email address
             */
            email: string;
            /**
             * @description The name of the event
             * @example signed_up
             */
            event: string;
            /** @description New contacts: true when omitted */
            subscribed?: boolean;
            /** @description Topics to join (true) or leave (false), by their keys; null returns to the default of the topic */
            topics?: {
                [key: string]: boolean | null;
            };
            /**
             * @description Whether the contact agrees that opens and clicks are recorded; projects of the mode CONSENTED ask for it
             * @example true
             */
            trackingAllowed?: boolean;
        };
        /** @description The contact and the event */
        TrackResponse: {
            /** @description Custom data */
            data: components["schemas"]["TrackResult"];
            /**
             * @description What has happened, for people
             * @example Campaign is being sent
             */
            message?: string;
            /**
             * @description Always true
             * @constant
             */
            success: true;
        };
        /** @description The contact and the event */
        TrackResult: {
            /**
             * Format: uuid
             * @description The id of the contact
             */
            contact: string;
            /**
             * Format: uuid
             * @description The id of the event
             */
            event: string;
            /**
             * Format: date-time
             * @description When it was
             */
            timestamp: string;
        };
        /** @description What a project sends to a provider at most */
        TrafficRule: {
            /**
             * @description The most messages within any day
             * @example 50000
             */
            perDay?: number | null;
            /**
             * @description The most messages within any hour
             * @example 5000
             */
            perHour?: number | null;
            /**
             * @description The most messages within any minute
             * @example 300
             */
            perMinute?: number | null;
            /**
             * @description The most messages within any second
             * @example 10
             */
            perSecond?: number | null;
            /** @description The domain of a provider, such as gmail.com; * is every provider, each by itself */
            provider: string;
        };
        /** @description The config of the TRIGGER step, which every workflow has */
        TriggerConfig: {
            /**
             * @description The name of the event
             * @example signed_up
             * @example email.open
             * @example segment.vip.entry
             */
            eventName: string;
            /**
             * @description Whether events of machines are left out: opens and clicks with `isMachine`
             * @example true
             */
            humanOnly?: boolean;
        };
        /** @description What starts it */
        TriggerPatch: {
            /**
             * @description The name of the event
             * @example signed_up
             * @example email.open
             * @example segment.vip.entry
             */
            eventName?: string;
            /**
             * @description Whether events of machines are left out: opens and clicks with `isMachine`
             * @example true
             */
            humanOnly?: boolean;
        };
        /** @description What is wrong */
        UnauthorizedError: {
            /**
             * @description What is wrong, for programs
             * @enum {string}
             */
            code: "INVALID_API_KEY";
            /**
             * @description More about it, for programs
             * @example {
             *       "field": "status"
             *     }
             */
            details?: {
                [key: string]: unknown;
            };
            /** @description The faulty fields */
            errors?: components["schemas"]["FieldError"][];
            /**
             * @description What is wrong, for people
             * @example The API key is missing or not valid
             */
            message: string;
            /** @description The same as in the header X-Request-ID */
            requestId: string;
            /**
             * @description The HTTP status
             * @constant
             */
            statusCode: 401;
            /**
             * @description What to do about it
             * @example Check the key
             */
            suggestion?: string;
        };
        /** @description The answer with status 401 */
        UnauthorizedResponse: {
            /** @description What went wrong; null when nothing did */
            error: components["schemas"]["UnauthorizedError"];
            /**
             * @description Always false
             * @constant
             */
            success: false;
            /**
             * Format: date-time
             * @description When it was answered
             */
            timestamp: string;
        };
        /** @description What is wrong */
        UnavailableError: {
            /**
             * @description What is wrong, for programs
             * @enum {string}
             */
            code: "SERVICE_UNAVAILABLE";
            /**
             * @description More about it, for programs
             * @example {
             *       "field": "status"
             *     }
             */
            details?: {
                [key: string]: unknown;
            };
            /** @description The faulty fields */
            errors?: components["schemas"]["FieldError"][];
            /**
             * @description What is wrong, for people
             * @example The service is temporarily unavailable, try again shortly
             */
            message: string;
            /** @description The same as in the header X-Request-ID */
            requestId: string;
            /**
             * @description The HTTP status
             * @constant
             */
            statusCode: 503;
            /**
             * @description What to do about it
             * @example Check the key
             */
            suggestion?: string;
        };
        /** @description The answer with status 503 */
        UnavailableResponse: {
            /** @description What went wrong; null when nothing did */
            error: components["schemas"]["UnavailableError"];
            /**
             * @description Always false
             * @constant
             */
            success: false;
            /**
             * Format: date-time
             * @description When it was answered
             */
            timestamp: string;
        };
        /** @description The body of undoBounces */
        UndoBouncesRequest: {
            /**
             * @description Count and change nothing
             * @default false
             */
            dryRun?: boolean;
            /** @description The domain of the recipients */
            provider?: string;
            /**
             * @description The first moment at which they were recorded
             * @example 2026-01-31
             * @example 2026-01-31T08:00:00Z
             */
            since: string;
            /**
             * @description The moment before which they were recorded; now when omitted
             * @example 2026-01-31
             * @example 2026-01-31T08:00:00Z
             */
            until?: string;
            /**
             * @description A part of the server's words, in any case
             * @example Relaying denied
             */
            words?: string;
        };
        /** @description What was undone, or would be */
        UndoBouncesResponse: {
            /** @description The first recipients; null where erased */
            addresses: (string | null)[];
            /** @description Whether nothing was changed */
            dryRun: boolean;
            /** @description Hard bounces that were selected and not undone before */
            emails: number;
            /** @description Whether more is left; then repeat the request */
            hasMore: boolean;
            /** @description Contacts that are subscribed again */
            subscribed: number;
            /** @description Addresses that may get email again */
            unsuppressed: number;
        };
        /** @description Why some recipients did not get a campaign */
        UnreachedReason: {
            /** @description The recipients */
            recipients: number;
            /**
             * @description What has become of it
             * @enum {string}
             */
            state: "PENDING" | "SENDING" | "SENT" | "DELIVERED" | "OPENED" | "CLICKED" | "BOUNCED" | "COMPLAINED" | "FAILED" | "SKIPPED" | "SUPPRESSED" | "CANCELLED";
            /** @description of the server, or why it was not sent; empty where no reason is known */
            words: string;
        };
        /** @description What is wrong */
        UnsupportedMediaTypeError: {
            /**
             * @description What is wrong, for programs
             * @enum {string}
             */
            code: "UNSUPPORTED_MEDIA_TYPE";
            /**
             * @description More about it, for programs
             * @example {
             *       "field": "status"
             *     }
             */
            details?: {
                [key: string]: unknown;
            };
            /** @description The faulty fields */
            errors?: components["schemas"]["FieldError"][];
            /**
             * @description What is wrong, for people
             * @example The request body must be application/json
             */
            message: string;
            /** @description The same as in the header X-Request-ID */
            requestId: string;
            /**
             * @description The HTTP status
             * @constant
             */
            statusCode: 415;
            /**
             * @description What to do about it
             * @example Check the key
             */
            suggestion?: string;
        };
        /** @description The answer with status 415 */
        UnsupportedMediaTypeResponse: {
            /** @description What went wrong; null when nothing did */
            error: components["schemas"]["UnsupportedMediaTypeError"];
            /**
             * @description Always false
             * @constant
             */
            success: false;
            /**
             * Format: date-time
             * @description When it was answered
             */
            timestamp: string;
        };
        /** @description The config of an UPDATE_CONTACT step: data, subscribed and topics, at least one of them */
        UpdateContactConfig: {
            /** @description Patched key by key; null deletes a key */
            data?: {
                [key: string]: unknown;
            };
            /** @description Whether the contact is subscribed from now on */
            subscribed?: boolean;
            /**
             * @description Another way to say `subscribed`
             * @enum {string}
             */
            subscriptionAction?: "none" | "subscribe" | "unsubscribe";
            /** @description Topics to join (true) or leave (false), by their keys; null returns to the default of the topic */
            topics?: {
                [key: string]: boolean | null;
            };
            /** @description Another name for `data` */
            updates?: {
                [key: string]: unknown;
            };
        };
        /** @description The body of updateContact */
        UpdateContactRequest: {
            /** @description Patched key by key; null deletes a key */
            data?: {
                [key: string]: unknown;
            };
            /**
             * Format: email
             * @description The email address
             */
            email?: string;
            /**
             * @description Until when the contact gets no marketing email; null ends a pause
             * @example 2026-03-01T08:00:00.000Z
             */
            pausedUntil?: string | null;
            /** @description Whether the contact gets marketing email */
            subscribed?: boolean;
            /** @description Topics to join (true) or leave (false), by their keys; null returns to the default of the topic */
            topics?: {
                [key: string]: boolean | null;
            };
            /**
             * @description Whether the contact agrees that opens and clicks are recorded; projects of the mode CONSENTED ask for it
             * @example true
             */
            trackingAllowed?: boolean;
        };
        /** @description The body of updateKey */
        UpdateKeyRequest: {
            /** @description From when on the key is refused; null means never */
            expiresAt?: string | null;
            /**
             * @description Where the key is used
             * @example Shop server
             */
            name?: string;
            /** @description The only domains that a send key may send from; null means all of the project */
            senderDomains?: string[] | null;
        };
        /** @description The body of updateProject */
        UpdateProjectRequest: {
            /**
             * @description The colour of buttons and links on the pages; texts stay readable
             * @example #0f766e
             */
            brandColor?: string | null;
            /**
             * @description How much of a client's address the record of consent keeps: all of it, its network (/24 of IPv4, /48 of IPv6), or nothing
             * @enum {string}
             */
            clientAddresses?: "FULL" | "SHORTENED" | "NONE";
            /**
             * @description The name that recipients see on pages and in footers; without one, the name of the project
             * @example Tea & Co
             */
            displayName?: string | null;
            /** @description How subscriptions through forms are confirmed */
            doubleOptIn?: components["schemas"]["DoubleOptIn"] | null;
            /**
             * @description The language of recipients whose own is not known
             * @example de
             */
            language?: ("en" | "de" | "fr" | "es" | "it" | "nl" | "pt" | "ar" | "he" | "ja") | null;
            /**
             * @description A picture above the footer and the pages
             * @example https://shop.example/logo.png
             */
            logoUrl?: string | null;
            /** @description The address of the sender in the footer of MARKETING email, which many laws demand */
            postalAddress?: string | null;
            /** @description What the public key may do; null means everything that it can do */
            publicKeyRules?: components["schemas"]["PublicKeyRules"] | null;
            /** @description The most that the project sends to providers, over all sources. The rules of the installation hold as well, so they can only lower a rate */
            trafficRules?: components["schemas"]["TrafficRule"][] | null;
        };
        /** @description The body of updateSegment */
        UpdateSegmentRequest: {
            /** @description For DYNAMIC segments only */
            condition?: components["schemas"]["FilterCondition"] | null;
            /** @description A note for yourself; recipients do not see it */
            description?: string | null;
            /** @description The name */
            name?: string;
            /** @description Whether events are recorded when contacts join and leave */
            trackMembership?: boolean;
        };
        /** @description The body of updateTemplate */
        UpdateTemplateRequest: {
            /** @description HTML with {{variables}} */
            body?: string;
            /** @description A note for yourself; recipients do not see it */
            description?: string | null;
            /**
             * Format: email
             * @description An address of a verified domain
             */
            from?: string;
            /** @description The name of the sender; without one, the display name of the project */
            fromName?: string | null;
            /** @description The name */
            name?: string;
            /** @description What lists of emails show beside the subject; it may hold {{placeholders}} */
            preheader?: string | null;
            /** @description The address for replies */
            replyTo?: string | null;
            /**
             * @description The subject; it may hold {{placeholders}}
             * @example Welcome, {{firstName ?? "friend"}}
             */
            subject?: string;
            /** @description A text/plain part of your own; without one, it is made from the body. It may hold {{placeholders}} */
            text?: string | null;
            /** @description What it is about; recipients who left this topic do not get it. TRANSACTIONAL email has none */
            topicId?: string | null;
            /**
             * @description The kind
             * @enum {string}
             */
            type?: "TRANSACTIONAL" | "MARKETING" | "HEADLESS";
        };
        /** @description The body of updateTopic */
        UpdateTopicRequest: {
            /**
             * @description opt_in: every subscribed contact gets it until they leave it; opt_out: only those who joined it get it. It never changes
             * @enum {string}
             */
            defaultSubscription?: "opt_in" | "opt_out";
            /** @description What readers get; they see it on the preference page */
            description?: string | null;
            /** @description Whether a subscription through a form has to be confirmed; null means as the project says */
            doubleOptIn?: boolean | null;
            /**
             * @description Names the topic in requests, imports and filters; it never changes
             * @example news
             */
            key?: string;
            /**
             * @description What readers see
             * @example News
             */
            name?: string;
            /**
             * @description Name and description in further languages, by language; readers without one see those above
             * @example {
             *       "de": {
             *         "name": "Neuigkeiten",
             *         "description": "Einmal im Monat"
             *       }
             *     }
             */
            texts?: {
                [key: string]: components["schemas"]["TopicText"];
            };
            /**
             * @description Whether readers see it on the preference page
             * @enum {string}
             */
            visibility?: "public" | "private";
        };
        /** @description The body of updateWebhook */
        UpdateWebhookRequest: {
            /** @description The most events of one request; above 1 they come as `type: "batch"` with a list */
            batchSize?: number;
            /** @description A note for yourself; recipients do not see it */
            description?: string | null;
            /** @description Whether it starts executions */
            enabled?: boolean;
            /**
             * @description Names of events; `*` stands for any text
             * @example [
             *       "email.*",
             *       "order.paid"
             *     ]
             */
            events?: string[];
            /**
             * @description Where events are sent to, https or http
             * @example https://example.com/everpost
             */
            url?: string;
        };
        /** @description The body of updateWorkflow */
        UpdateWorkflowRequest: {
            /** @description Whether a contact may go through it again once an earlier execution has ended */
            allowReentry?: boolean;
            /** @description A note for yourself; recipients do not see it */
            description?: string | null;
            /** @description Whether it starts executions */
            enabled?: boolean;
            /**
             * @description The name of the event
             * @example signed_up
             * @example email.open
             * @example segment.vip.entry
             */
            eventName?: string;
            /** @description The name */
            name?: string;
            /** @description What starts it */
            triggerConfig?: components["schemas"]["TriggerPatch"];
            /**
             * @description Whether an event starts it, or POST /workflows/{id}/executions alone
             * @enum {string}
             */
            triggerType?: "EVENT" | "MANUAL";
        };
        /** @description The body of updateWorkflowStep */
        UpdateWorkflowStepRequest: {
            /** @description What the step does; its shape depends on the type */
            config?: components["schemas"]["TriggerConfig"] | components["schemas"]["SendEmailConfig"] | components["schemas"]["DelayConfig"] | components["schemas"]["WaitForEventConfig"] | components["schemas"]["ConditionConfig"] | components["schemas"]["WebhookConfig"] | components["schemas"]["UpdateContactConfig"] | components["schemas"]["ExitConfig"];
            /** @description The name */
            name?: string;
            /** @description Where an editor draws the step */
            position?: components["schemas"]["StepPosition"];
            /** @description The template */
            templateId?: string | null;
        };
        /** @description The body of upsertContact */
        UpsertContactRequest: {
            /** @description Patched key by key; null deletes a key */
            data?: {
                [key: string]: unknown;
            };
            /**
             * Format: email
             * @description The email address
             */
            email: string;
            /** @description New contacts: true when omitted */
            subscribed?: boolean;
            /** @description Topics to join (true) or leave (false), by their keys; null returns to the default of the topic */
            topics?: {
                [key: string]: boolean | null;
            };
            /**
             * @description Whether the contact agrees that opens and clicks are recorded; projects of the mode CONSENTED ask for it
             * @example true
             */
            trackingAllowed?: boolean;
        };
        /** @description The body of upsertContacts */
        UpsertContactsRequest: {
            /** @description The contacts, as in POST /contacts */
            contacts: components["schemas"]["BulkContact"][];
        };
        /** @description What became of each contact */
        UpsertContactsResponse: {
            /** @description How many contacts were created */
            createdCount: number;
            /** @description How many could not be done */
            failureCount: number;
            /** @description One for each contact, in their order */
            results: components["schemas"]["BulkContactOutcome"][];
            /** @description How many needed no change */
            unchangedCount: number;
            /** @description How many contacts were updated */
            updatedCount: number;
        };
        /** @description A contact, and whether it is new */
        UpsertedContact: {
            /** @description Whether the contact is new */
            _meta: components["schemas"]["UpsertMeta"];
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description Custom data */
            data: {
                [key: string]: unknown;
            };
            /**
             * @description The email address
             * @example ada@example.com
             */
            email: string;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /**
             * Format: date-time
             * @description Until when the contact gets no marketing email; left out while it has not paused
             * @example 2026-03-01T08:00:00.000Z
             */
            pausedUntil?: string;
            /**
             * @description While a subscription of the contact waits for its confirmation; left out otherwise
             * @constant
             */
            pending?: true;
            /** @description Whether the contact gets marketing email */
            subscribed: boolean;
            /**
             * @description Which topics the contact has, by their keys; left out in a project without topics
             * @example {
             *       "news": true
             *     }
             */
            topics?: {
                [key: string]: boolean;
            };
            /**
             * @description Whether the contact agreed to tracking; left out for one who was not asked
             * @example true
             */
            trackingAllowed?: boolean;
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
        };
        /** @description Whether the contact is new */
        UpsertMeta: {
            /** @description Whether it was created */
            isNew: boolean;
            /** @description Whether it existed */
            isUpdate: boolean;
        };
        /** @description What is wrong */
        ValidationError: {
            /**
             * @description What is wrong, for programs
             * @enum {string}
             */
            code: "VALIDATION_ERROR";
            /**
             * @description More about it, for programs
             * @example {
             *       "field": "status"
             *     }
             */
            details?: {
                [key: string]: unknown;
            };
            /** @description The faulty fields */
            errors?: components["schemas"]["FieldError"][];
            /**
             * @description What is wrong, for people
             * @example Request validation failed
             */
            message: string;
            /** @description The same as in the header X-Request-ID */
            requestId: string;
            /**
             * @description The HTTP status
             * @constant
             */
            statusCode: 422;
            /**
             * @description What to do about it
             * @example Check the key
             */
            suggestion?: string;
        };
        /** @description The answer with status 422 */
        ValidationResponse: {
            /** @description What went wrong; null when nothing did */
            error: components["schemas"]["ValidationError"];
            /**
             * @description Always false
             * @constant
             */
            success: false;
            /**
             * Format: date-time
             * @description When it was answered
             */
            timestamp: string;
        };
        /** @description The body of verifyEmail */
        VerifyEmailRequest: {
            /**
             * Format: email
             * @description The email address
             */
            email: string;
        };
        /** @description What is known of the address */
        VerifyEmailResponse: {
            /** @description Custom data */
            data: components["schemas"]["AddressVerification"];
            /**
             * @description What has happened, for people
             * @example Campaign is being sent
             */
            message?: string;
            /**
             * @description Always true
             * @constant
             */
            success: true;
        };
        /** @description The config of a WAIT_FOR_EVENT step */
        WaitForEventConfig: {
            /**
             * @description The name of the event
             * @example signed_up
             * @example email.open
             * @example segment.vip.entry
             */
            eventName: string;
            /**
             * @description Whether events of machines are left out: opens and clicks with `isMachine`
             * @example true
             */
            humanOnly?: boolean;
            /**
             * @description Seconds; without it the wait has no end
             * @example 86400
             */
            timeout?: number | null;
        };
        /** @description The waiting items of one kind */
        WaitingItems: {
            /** @description How many there are */
            count: number;
            /**
             * @description What it is
             * @example email
             * @example campaign recipient
             * @example scheduled campaign
             * @example execution
             * @example job IMPORT
             * @example start of email
             */
            kind: string;
            /**
             * @description How long the oldest has been due; null where all of them are due later
             * @example 42.5
             */
            oldestSeconds: number | null;
            /**
             * @description Why
             * @example a campaign is paused
             */
            reason: string | null;
        };
        /** @description An endpoint of yours that events are sent to */
        Webhook: {
            /** @description The most events of one request */
            batchSize: number;
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description A note for yourself; recipients do not see it */
            description: string | null;
            /** @description When it was disabled; null while it is enabled */
            disabledAt: string | null;
            /** @description Why Everpost disabled it */
            disabledReason: string | null;
            /** @description Whether it starts executions */
            enabled: boolean;
            /** @description The events */
            events: string[];
            /** @description Since when it has accepted nothing; null while it accepts events */
            failingSince: string | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description Until then, requests are signed with the previous secret, too */
            previousSecretExpiresAt: string | null;
            /**
             * Format: uuid
             * @description The project that it belongs to
             */
            projectId: string;
            /** @description When it is tried again; null where nothing waits */
            retryAt: string | null;
            /**
             * @description `failing`: it accepted nothing of the last request, and is tried again
             * @enum {string}
             */
            status: "active" | "failing" | "disabled";
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
            /** @description Where events are sent to */
            url: string;
        };
        /** @description The config of a WEBHOOK step */
        WebhookConfig: {
            /** @description The body; texts in it may hold placeholders. Contact, workflow, execution and event when left out */
            body?: unknown;
            /** @description Headers of the request; values may hold placeholders */
            headers?: {
                [key: string]: string;
            };
            /**
             * @description The method of the request
             * @default POST
             * @enum {string}
             */
            method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
            /**
             * @description Where to call; placeholders may stand behind the host
             * @example https://crm.example.com/hook
             */
            url: string;
        };
        /** @description The contact that is at the step */
        WebhookContact: {
            /** @description Custom data */
            data: {
                [key: string]: unknown;
            };
            /**
             * @description The email address
             * @example ada@example.com
             */
            email: string;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description Whether the contact gets marketing email */
            subscribed: boolean;
        };
        /** @description A request to an endpoint, with its attempts */
        WebhookDelivery: {
            /** @description How often it was sent */
            attempts: number;
            /** @description The contact */
            contactId: string | null;
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description Milliseconds until the last answer */
            durationMs: number | null;
            /** @description What went wrong; null when nothing did */
            error: string | null;
            /** @description Events of the request */
            eventCount: number;
            /**
             * Format: uuid
             * @description The event, or the first of several
             */
            eventId: string;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /**
             * Format: date-time
             * @description When the event was stored
             */
            recordedAt: string;
            /** @description When it is tried again; null where nothing waits */
            retryAt: string | null;
            /**
             * @description Its state
             * @enum {string}
             */
            status: "RETRYING" | "DELIVERED" | "FAILED";
            /** @description Of the last answer */
            statusCode: number | null;
            /** @description The name of that event */
            type: string;
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
        };
        /** @description One event, as an endpoint receives it */
        WebhookEvent: {
            /** @description Custom data */
            data: components["schemas"]["WebhookEventData"];
            /**
             * Format: date-time
             * @description When it happened
             */
            timestamp: string;
            /** @description The name of the event */
            type: string;
        };
        /** @description Several events, for an endpoint with a `batchSize` above 1 */
        WebhookEventBatch: {
            /** @description The events, in the order in which they were stored */
            data: components["schemas"]["WebhookEvent"][];
            /**
             * Format: date-time
             * @description When the first of them happened
             */
            timestamp: string;
            /**
             * @description Always `batch`
             * @constant
             */
            type: "batch";
        };
        /** @description An event, or a batch of them */
        WebhookEventBody: components["schemas"]["WebhookEventBatch"] | components["schemas"]["WebhookEvent"];
        /** @description The contact that it happened to */
        WebhookEventContact: {
            /** @description The email address */
            email: string | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
        };
        /** @description What happened, and to whom */
        WebhookEventData: {
            /** @description The contact; null when it has been deleted */
            contact: components["schemas"]["WebhookEventContact"] | null;
            /** @description What you tracked, or what the event says */
            data: {
                [key: string]: unknown;
            };
            /** @description The email */
            emailId: string | null;
            /**
             * Format: uuid
             * @description The id of the event, the campaign or the execution
             */
            id: string;
        };
        /** @description The execution that is at the step */
        WebhookExecution: {
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /**
             * Format: date-time
             * @description When it began
             */
            startedAt: string;
        };
        /** @description The workflow that the step is in */
        WebhookWorkflow: {
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description The name */
            name: string;
        };
        /** @description An automation */
        Workflow: {
            /** @description Whether a contact may go through it again once an earlier execution has ended */
            allowReentry: boolean;
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description A note for yourself; recipients do not see it */
            description: string | null;
            /** @description Whether it starts executions */
            enabled: boolean;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description The name */
            name: string;
            /**
             * Format: uuid
             * @description The project that it belongs to
             */
            projectId: string;
            /** @description What starts it */
            triggerConfig: components["schemas"]["WorkflowTrigger"];
            /**
             * @description Whether an event starts it, or POST /workflows/{id}/executions alone
             * @enum {string}
             */
            triggerType: "EVENT" | "MANUAL";
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
        };
        /** @description The number of its steps and of its executions */
        WorkflowCounts: {
            /** @description How many executions it has had */
            executions: number;
            /** @description How many steps it has */
            steps: number;
        };
        /** @description An automation with its steps and transitions */
        WorkflowDefinition: {
            /** @description Whether a contact may go through it again once an earlier execution has ended */
            allowReentry: boolean;
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description A note for yourself; recipients do not see it */
            description: string | null;
            /** @description Whether it starts executions */
            enabled: boolean;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description The name */
            name: string;
            /**
             * Format: uuid
             * @description The project that it belongs to
             */
            projectId: string;
            /** @description The steps */
            steps: components["schemas"]["ConnectedStep"][];
            /** @description The transitions */
            transitions: components["schemas"]["WorkflowTransition"][];
            /** @description What starts it */
            triggerConfig: components["schemas"]["WorkflowTrigger"];
            /**
             * @description Whether an event starts it, or POST /workflows/{id}/executions alone
             * @enum {string}
             */
            triggerType: "EVENT" | "MANUAL";
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
        };
        /** @description A run of an automation for one contact */
        WorkflowExecution: {
            /** @description When it ended; null while it has not */
            completedAt: string | null;
            /**
             * Format: uuid
             * @description The contact
             */
            contactId: string;
            /** @description The event that started it, or what was given at the start; steps read it as `event.<key>` */
            context: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description The step where it is; null when it has ended */
            currentStepId: string | null;
            /** @description The reason that the EXIT step gives */
            exitReason: string | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /**
             * Format: date-time
             * @description When it began
             */
            startedAt: string;
            /**
             * @description Its state
             * @enum {string}
             */
            status: "RUNNING" | "WAITING" | "COMPLETED" | "EXITED" | "FAILED" | "CANCELLED";
            /** @description Null until its first step is done */
            temporalRunId: string | null;
            /** @description The execution in Temporal */
            temporalWorkflowId: string;
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
            /**
             * Format: uuid
             * @description The workflow
             */
            workflowId: string;
        };
        /** @description An execution with what became of each step */
        WorkflowExecutionDetail: {
            /** @description When it ended; null while it has not */
            completedAt: string | null;
            /** @description The contact; null when it has been deleted */
            contact: components["schemas"]["ExecutionContact"] | null;
            /**
             * Format: uuid
             * @description The contact
             */
            contactId: string;
            /** @description The event that started it, or what was given at the start; steps read it as `event.<key>` */
            context: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /** @description The step where it is; null when it has ended */
            currentStep: components["schemas"]["ExecutedStep"] | null;
            /** @description The step where it is; null when it has ended */
            currentStepId: string | null;
            /** @description The reason that the EXIT step gives */
            exitReason: string | null;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /**
             * Format: date-time
             * @description When it began
             */
            startedAt: string;
            /**
             * @description Its state
             * @enum {string}
             */
            status: "RUNNING" | "WAITING" | "COMPLETED" | "EXITED" | "FAILED" | "CANCELLED";
            /** @description What became of each step */
            stepExecutions: components["schemas"]["StepExecution"][];
            /** @description Null until its first step is done */
            temporalRunId: string | null;
            /** @description The execution in Temporal */
            temporalWorkflowId: string;
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
            /** @description The workflow */
            workflow: components["schemas"]["Reference"];
            /**
             * Format: uuid
             * @description The workflow
             */
            workflowId: string;
        };
        /** @description A field that a CONDITION step can read */
        WorkflowField: {
            /** @description The name of the field */
            field: string;
            /**
             * @description Where the field comes from
             * @enum {string}
             */
            source: "contact" | "event";
            /**
             * @description The kind
             * @enum {string}
             */
            type: "string" | "number" | "boolean" | "date";
        };
        /** @description A step of an automation */
        WorkflowStep: {
            /** @description What the step does; its shape depends on the type */
            config: components["schemas"]["TriggerConfig"] | components["schemas"]["SendEmailConfig"] | components["schemas"]["DelayConfig"] | components["schemas"]["WaitForEventConfig"] | components["schemas"]["ConditionConfig"] | components["schemas"]["WebhookConfig"] | components["schemas"]["UpdateContactConfig"] | components["schemas"]["ExitConfig"];
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /** @description The name */
            name: string;
            /** @description Where an editor draws the step */
            position: components["schemas"]["StepPosition"];
            /** @description The template */
            templateId: string | null;
            /**
             * @description The kind
             * @enum {string}
             */
            type: "TRIGGER" | "SEND_EMAIL" | "DELAY" | "WAIT_FOR_EVENT" | "CONDITION" | "WEBHOOK" | "UPDATE_CONTACT" | "EXIT";
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
            /**
             * Format: uuid
             * @description The workflow
             */
            workflowId: string;
        };
        /** @description A transition from one step to another */
        WorkflowTransition: {
            /** @description The branch of the step; null where the step has only one */
            branch: ("yes" | "no" | "event" | "timeout") | null;
            /**
             * Format: date-time
             * @description When it was made
             */
            createdAt: string;
            /**
             * Format: uuid
             * @description The step that it leaves
             */
            fromStepId: string;
            /**
             * Format: uuid
             * @description The id of the record
             */
            id: string;
            /**
             * Format: uuid
             * @description The step that it leads to
             */
            toStepId: string;
            /**
             * Format: date-time
             * @description When it was last changed
             */
            updatedAt: string;
        };
        /** @description What starts it */
        WorkflowTrigger: {
            /** @description The name of the event */
            eventName: string;
            /**
             * @description Whether only people count, and not opens and clicks of machines
             * @constant
             */
            humanOnly?: true;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type AcceptedEmail = components['schemas']['AcceptedEmail'];
export type Activity = components['schemas']['Activity'];
export type ActivityDay = components['schemas']['ActivityDay'];
export type ActivityRates = components['schemas']['ActivityRates'];
export type ActivityStats = components['schemas']['ActivityStats'];
export type ActivityTotals = components['schemas']['ActivityTotals'];
export type Address = components['schemas']['Address'];
export type AddressVerification = components['schemas']['AddressVerification'];
export type AddSegmentMembersRequest = components['schemas']['AddSegmentMembersRequest'];
export type AddSegmentMembersResponse = components['schemas']['AddSegmentMembersResponse'];
export type AddSuppressionsRequest = components['schemas']['AddSuppressionsRequest'];
export type AddSuppressionsResponse = components['schemas']['AddSuppressionsResponse'];
export type AddWorkflowStepRequest = components['schemas']['AddWorkflowStepRequest'];
export type AddWorkflowTransitionRequest = components['schemas']['AddWorkflowTransitionRequest'];
export type Attachment = components['schemas']['Attachment'];
export type AuditEntry = components['schemas']['AuditEntry'];
export type BadRequestError = components['schemas']['BadRequestError'];
export type BadRequestResponse = components['schemas']['BadRequestResponse'];
export type BatchEmail = components['schemas']['BatchEmail'];
export type BatchOutcome = components['schemas']['BatchOutcome'];
export type BranchCondition = components['schemas']['BranchCondition'];
export type BulkContact = components['schemas']['BulkContact'];
export type BulkContactFault = components['schemas']['BulkContactFault'];
export type BulkContactOutcome = components['schemas']['BulkContactOutcome'];
export type BulkDeleteContactsRequest = components['schemas']['BulkDeleteContactsRequest'];
export type BulkError = components['schemas']['BulkError'];
export type BulkJob = components['schemas']['BulkJob'];
export type BulkResult = components['schemas']['BulkResult'];
export type BulkSubscribeContactsRequest = components['schemas']['BulkSubscribeContactsRequest'];
export type BulkUnsubscribeContactsRequest = components['schemas']['BulkUnsubscribeContactsRequest'];
export type Campaign = components['schemas']['Campaign'];
export type CampaignBadLink = components['schemas']['CampaignBadLink'];
export type CampaignCheck = components['schemas']['CampaignCheck'];
export type CampaignDuration = components['schemas']['CampaignDuration'];
export type CampaignEmptyPlaceholder = components['schemas']['CampaignEmptyPlaceholder'];
export type CampaignLink = components['schemas']['CampaignLink'];
export type CampaignNotReceiving = components['schemas']['CampaignNotReceiving'];
export type CampaignOneClick = components['schemas']['CampaignOneClick'];
export type CampaignPage = components['schemas']['CampaignPage'];
export type CampaignPlaceholders = components['schemas']['CampaignPlaceholders'];
export type CampaignProblem = components['schemas']['CampaignProblem'];
export type CampaignRecipients = components['schemas']['CampaignRecipients'];
export type CampaignReference = components['schemas']['CampaignReference'];
export type CampaignSender = components['schemas']['CampaignSender'];
export type CampaignSize = components['schemas']['CampaignSize'];
export type CampaignStats = components['schemas']['CampaignStats'];
export type CampaignWarmUp = components['schemas']['CampaignWarmUp'];
export type CancelAllWorkflowExecutionsResponse = components['schemas']['CancelAllWorkflowExecutionsResponse'];
export type CheckResendCampaignRequest = components['schemas']['CheckResendCampaignRequest'];
export type ComputeError = components['schemas']['ComputeError'];
export type ConditionConfig = components['schemas']['ConditionConfig'];
export type ConflictError = components['schemas']['ConflictError'];
export type ConflictResponse = components['schemas']['ConflictResponse'];
export type ConnectedStep = components['schemas']['ConnectedStep'];
export type Consent = components['schemas']['Consent'];
export type ConsentCause = components['schemas']['ConsentCause'];
export type ConsentFeedback = components['schemas']['ConsentFeedback'];
export type ConsentPage = components['schemas']['ConsentPage'];
export type ConsentTopic = components['schemas']['ConsentTopic'];
export type ConsentWording = components['schemas']['ConsentWording'];
export type Contact = components['schemas']['Contact'];
export type ContactField = components['schemas']['ContactField'];
export type ContactFields = components['schemas']['ContactFields'];
export type ContactPage = components['schemas']['ContactPage'];
export type ContactReference = components['schemas']['ContactReference'];
export type ContactTopic = components['schemas']['ContactTopic'];
export type ContactTopics = components['schemas']['ContactTopics'];
export type CreateCampaignRequest = components['schemas']['CreateCampaignRequest'];
export type CreateCampaignResponse = components['schemas']['CreateCampaignResponse'];
export type CreatedKey = components['schemas']['CreatedKey'];
export type CreateDomainRequest = components['schemas']['CreateDomainRequest'];
export type CreateKeyRequest = components['schemas']['CreateKeyRequest'];
export type CreateSegmentRequest = components['schemas']['CreateSegmentRequest'];
export type CreateTemplateRequest = components['schemas']['CreateTemplateRequest'];
export type CreateTopicRequest = components['schemas']['CreateTopicRequest'];
export type CreateWebhookRequest = components['schemas']['CreateWebhookRequest'];
export type CreateWebhookResponse = components['schemas']['CreateWebhookResponse'];
export type CreateWorkflowRequest = components['schemas']['CreateWorkflowRequest'];
export type DelayConfig = components['schemas']['DelayConfig'];
export type DeleteEventsResponse = components['schemas']['DeleteEventsResponse'];
export type Deliverability = components['schemas']['Deliverability'];
export type DeliverabilityDay = components['schemas']['DeliverabilityDay'];
export type DeliverabilityNumbers = components['schemas']['DeliverabilityNumbers'];
export type DeliverabilityResult = components['schemas']['DeliverabilityResult'];
export type DeliverabilitySign = components['schemas']['DeliverabilitySign'];
export type DnsRecord = components['schemas']['DnsRecord'];
export type Domain = components['schemas']['Domain'];
export type DoubleOptIn = components['schemas']['DoubleOptIn'];
export type Email = components['schemas']['Email'];
export type EmailContent = components['schemas']['EmailContent'];
export type EmailDeliveries = components['schemas']['EmailDeliveries'];
export type EmailDelivery = components['schemas']['EmailDelivery'];
export type EmailStory = components['schemas']['EmailStory'];
export type EmailWait = components['schemas']['EmailWait'];
export type EndedExecutionCount = components['schemas']['EndedExecutionCount'];
export type Event = components['schemas']['Event'];
export type EventContact = components['schemas']['EventContact'];
export type EventCount = components['schemas']['EventCount'];
export type EventPage = components['schemas']['EventPage'];
export type EventUsage = components['schemas']['EventUsage'];
export type ExecutedStep = components['schemas']['ExecutedStep'];
export type ExecutionContact = components['schemas']['ExecutionContact'];
export type ExecutionCount = components['schemas']['ExecutionCount'];
export type ExecutionCounts = components['schemas']['ExecutionCounts'];
export type ExecutionPage = components['schemas']['ExecutionPage'];
export type ExitConfig = components['schemas']['ExitConfig'];
export type ExportContactResponse = components['schemas']['ExportContactResponse'];
export type ExportContactsByBodyRequest = components['schemas']['ExportContactsByBodyRequest'];
export type ExportedContact = components['schemas']['ExportedContact'];
export type ExportedEmail = components['schemas']['ExportedEmail'];
export type ExportedEvent = components['schemas']['ExportedEvent'];
export type FieldDeletion = components['schemas']['FieldDeletion'];
export type FieldError = components['schemas']['FieldError'];
export type FieldUsage = components['schemas']['FieldUsage'];
export type FieldValues = components['schemas']['FieldValues'];
export type Filter = components['schemas']['Filter'];
export type FilterCondition = components['schemas']['FilterCondition'];
export type FilterGroup = components['schemas']['FilterGroup'];
export type FilterTree = components['schemas']['FilterTree'];
export type FindRecordsRequest = components['schemas']['FindRecordsRequest'];
export type FlatError = components['schemas']['FlatError'];
export type ForbiddenError = components['schemas']['ForbiddenError'];
export type ForbiddenResponse = components['schemas']['ForbiddenResponse'];
export type FoundRecord = components['schemas']['FoundRecord'];
export type FoundRecords = components['schemas']['FoundRecords'];
export type FoundWebhookDelivery = components['schemas']['FoundWebhookDelivery'];
export type GetCampaignHistoryResponse = components['schemas']['GetCampaignHistoryResponse'];
export type GetTemplateUsageResponse = components['schemas']['GetTemplateUsageResponse'];
export type HeadersTooLargeError = components['schemas']['HeadersTooLargeError'];
export type HeadersTooLargeResponse = components['schemas']['HeadersTooLargeResponse'];
export type IgnoredField = components['schemas']['IgnoredField'];
export type ImportContactsRequest = components['schemas']['ImportContactsRequest'];
export type ImportedColumn = components['schemas']['ImportedColumn'];
export type ImportError = components['schemas']['ImportError'];
export type ImportJob = components['schemas']['ImportJob'];
export type ImportResult = components['schemas']['ImportResult'];
export type ImportSuppressionsRequest = components['schemas']['ImportSuppressionsRequest'];
export type ImportSuppressionsResponse = components['schemas']['ImportSuppressionsResponse'];
export type InternalError = components['schemas']['InternalError'];
export type InternalResponse = components['schemas']['InternalResponse'];
export type Key = components['schemas']['Key'];
export type ListActivityResponse = components['schemas']['ListActivityResponse'];
export type ListAuditResponse = components['schemas']['ListAuditResponse'];
export type ListCampaignLinksResponse = components['schemas']['ListCampaignLinksResponse'];
export type ListCampaignRecipientsResponse = components['schemas']['ListCampaignRecipientsResponse'];
export type ListCampaignUnreachedResponse = components['schemas']['ListCampaignUnreachedResponse'];
export type ListedEvent = components['schemas']['ListedEvent'];
export type ListedExecution = components['schemas']['ListedExecution'];
export type ListedWorkflow = components['schemas']['ListedWorkflow'];
export type ListEmailsResponse = components['schemas']['ListEmailsResponse'];
export type ListEventNamesResponse = components['schemas']['ListEventNamesResponse'];
export type ListSuppressionsResponse = components['schemas']['ListSuppressionsResponse'];
export type ListWebhookDeliveriesResponse = components['schemas']['ListWebhookDeliveriesResponse'];
export type ListWorkflowFieldsResponse = components['schemas']['ListWorkflowFieldsResponse'];
export type ListWorkflowsResponse = components['schemas']['ListWorkflowsResponse'];
export type LookUpContactsRequest = components['schemas']['LookUpContactsRequest'];
export type LookUpContactsResponse = components['schemas']['LookUpContactsResponse'];
export type MessageAttachment = components['schemas']['MessageAttachment'];
export type MessageHeader = components['schemas']['MessageHeader'];
export type NamedEvent = components['schemas']['NamedEvent'];
export type NewConditionStep = components['schemas']['NewConditionStep'];
export type NewDelayStep = components['schemas']['NewDelayStep'];
export type NewExitStep = components['schemas']['NewExitStep'];
export type NewSendEmailStep = components['schemas']['NewSendEmailStep'];
export type NewTrigger = components['schemas']['NewTrigger'];
export type NewUpdateContactStep = components['schemas']['NewUpdateContactStep'];
export type NewWaitForEventStep = components['schemas']['NewWaitForEventStep'];
export type NewWebhookStep = components['schemas']['NewWebhookStep'];
export type NotFoundError = components['schemas']['NotFoundError'];
export type NotFoundResponse = components['schemas']['NotFoundResponse'];
export type OwnKey = components['schemas']['OwnKey'];
export type OwnProject = components['schemas']['OwnProject'];
export type PayloadTooLargeError = components['schemas']['PayloadTooLargeError'];
export type PayloadTooLargeResponse = components['schemas']['PayloadTooLargeResponse'];
export type PreviewTemplateRequest = components['schemas']['PreviewTemplateRequest'];
export type Project = components['schemas']['Project'];
export type ProviderComplaints = components['schemas']['ProviderComplaints'];
export type ProviderWait = components['schemas']['ProviderWait'];
export type PublicKeyRules = components['schemas']['PublicKeyRules'];
export type Queue = components['schemas']['Queue'];
export type QueuedJob = components['schemas']['QueuedJob'];
export type RateLimitError = components['schemas']['RateLimitError'];
export type RateLimitResponse = components['schemas']['RateLimitResponse'];
export type Recipient = components['schemas']['Recipient'];
export type RecordEventRequest = components['schemas']['RecordEventRequest'];
export type Reference = components['schemas']['Reference'];
export type RefreshSegmentResponse = components['schemas']['RefreshSegmentResponse'];
export type RefusedEmail = components['schemas']['RefusedEmail'];
export type RegenerateProjectKeysResponse = components['schemas']['RegenerateProjectKeysResponse'];
export type RemoveSegmentMembersRequest = components['schemas']['RemoveSegmentMembersRequest'];
export type RemoveSegmentMembersResponse = components['schemas']['RemoveSegmentMembersResponse'];
export type RemoveSuppressionByBodyRequest = components['schemas']['RemoveSuppressionByBodyRequest'];
export type ReplaceCampaignRequest = components['schemas']['ReplaceCampaignRequest'];
export type ReplayWebhookRequest = components['schemas']['ReplayWebhookRequest'];
export type ReplayWebhookResponse = components['schemas']['ReplayWebhookResponse'];
export type RequestTimeoutError = components['schemas']['RequestTimeoutError'];
export type RequestTimeoutResponse = components['schemas']['RequestTimeoutResponse'];
export type RescheduleEmailRequest = components['schemas']['RescheduleEmailRequest'];
export type ResendCampaignRequest = components['schemas']['ResendCampaignRequest'];
export type ResendCheck = components['schemas']['ResendCheck'];
export type RetryFailedWorkflowExecutionsRequest = components['schemas']['RetryFailedWorkflowExecutionsRequest'];
export type RetryFailedWorkflowExecutionsResponse = components['schemas']['RetryFailedWorkflowExecutionsResponse'];
export type RotateWebhookSecretRequest = components['schemas']['RotateWebhookSecretRequest'];
export type RotateWebhookSecretResponse = components['schemas']['RotateWebhookSecretResponse'];
export type SearchContactsRequest = components['schemas']['SearchContactsRequest'];
export type SearchEmailsRequest = components['schemas']['SearchEmailsRequest'];
export type SearchEmailsResponse = components['schemas']['SearchEmailsResponse'];
export type SearchSuppressionsRequest = components['schemas']['SearchSuppressionsRequest'];
export type SearchSuppressionsResponse = components['schemas']['SearchSuppressionsResponse'];
export type Segment = components['schemas']['Segment'];
export type SegmentChanges = components['schemas']['SegmentChanges'];
export type SegmentContactPage = components['schemas']['SegmentContactPage'];
export type SendBatchRequest = components['schemas']['SendBatchRequest'];
export type SendBatchResponse = components['schemas']['SendBatchResponse'];
export type SendBatchResult = components['schemas']['SendBatchResult'];
export type SendCampaignRequest = components['schemas']['SendCampaignRequest'];
export type SendCampaignResponse = components['schemas']['SendCampaignResponse'];
export type SendEmailConfig = components['schemas']['SendEmailConfig'];
export type SendEmailRecipient = components['schemas']['SendEmailRecipient'];
export type SendEmailRequest = components['schemas']['SendEmailRequest'];
export type SendEmailResponse = components['schemas']['SendEmailResponse'];
export type SendEmailResult = components['schemas']['SendEmailResult'];
export type SenderAddress = components['schemas']['SenderAddress'];
export type SenderRefusal = components['schemas']['SenderRefusal'];
export type SetContactTopicsRequest = components['schemas']['SetContactTopicsRequest'];
export type StartWorkflowExecutionRequest = components['schemas']['StartWorkflowExecutionRequest'];
export type StepExecution = components['schemas']['StepExecution'];
export type StepPosition = components['schemas']['StepPosition'];
export type StepReference = components['schemas']['StepReference'];
export type StepWebhookBody = components['schemas']['StepWebhookBody'];
export type SubscribeRequest = components['schemas']['SubscribeRequest'];
export type SubscribeResponse = components['schemas']['SubscribeResponse'];
export type SubscribeResult = components['schemas']['SubscribeResult'];
export type Suppression = components['schemas']['Suppression'];
export type SuppressionRowError = components['schemas']['SuppressionRowError'];
export type Template = components['schemas']['Template'];
export type TemplatePage = components['schemas']['TemplatePage'];
export type TemplatePreview = components['schemas']['TemplatePreview'];
export type TestCampaignRequest = components['schemas']['TestCampaignRequest'];
export type TestCampaignResponse = components['schemas']['TestCampaignResponse'];
export type TestWebhookResponse = components['schemas']['TestWebhookResponse'];
export type TimelineEntry = components['schemas']['TimelineEntry'];
export type Topic = components['schemas']['Topic'];
export type TopicCounts = components['schemas']['TopicCounts'];
export type TopicPage = components['schemas']['TopicPage'];
export type TopicText = components['schemas']['TopicText'];
export type TopicUsage = components['schemas']['TopicUsage'];
export type TrackedEvent = components['schemas']['TrackedEvent'];
export type TrackRequest = components['schemas']['TrackRequest'];
export type TrackResponse = components['schemas']['TrackResponse'];
export type TrackResult = components['schemas']['TrackResult'];
export type TrafficRule = components['schemas']['TrafficRule'];
export type TriggerConfig = components['schemas']['TriggerConfig'];
export type TriggerPatch = components['schemas']['TriggerPatch'];
export type UnauthorizedError = components['schemas']['UnauthorizedError'];
export type UnauthorizedResponse = components['schemas']['UnauthorizedResponse'];
export type UnavailableError = components['schemas']['UnavailableError'];
export type UnavailableResponse = components['schemas']['UnavailableResponse'];
export type UndoBouncesRequest = components['schemas']['UndoBouncesRequest'];
export type UndoBouncesResponse = components['schemas']['UndoBouncesResponse'];
export type UnreachedReason = components['schemas']['UnreachedReason'];
export type UnsupportedMediaTypeError = components['schemas']['UnsupportedMediaTypeError'];
export type UnsupportedMediaTypeResponse = components['schemas']['UnsupportedMediaTypeResponse'];
export type UpdateContactConfig = components['schemas']['UpdateContactConfig'];
export type UpdateContactRequest = components['schemas']['UpdateContactRequest'];
export type UpdateKeyRequest = components['schemas']['UpdateKeyRequest'];
export type UpdateProjectRequest = components['schemas']['UpdateProjectRequest'];
export type UpdateSegmentRequest = components['schemas']['UpdateSegmentRequest'];
export type UpdateTemplateRequest = components['schemas']['UpdateTemplateRequest'];
export type UpdateTopicRequest = components['schemas']['UpdateTopicRequest'];
export type UpdateWebhookRequest = components['schemas']['UpdateWebhookRequest'];
export type UpdateWorkflowRequest = components['schemas']['UpdateWorkflowRequest'];
export type UpdateWorkflowStepRequest = components['schemas']['UpdateWorkflowStepRequest'];
export type UpsertContactRequest = components['schemas']['UpsertContactRequest'];
export type UpsertContactsRequest = components['schemas']['UpsertContactsRequest'];
export type UpsertContactsResponse = components['schemas']['UpsertContactsResponse'];
export type UpsertedContact = components['schemas']['UpsertedContact'];
export type UpsertMeta = components['schemas']['UpsertMeta'];
export type ValidationError = components['schemas']['ValidationError'];
export type ValidationResponse = components['schemas']['ValidationResponse'];
export type VerifyEmailRequest = components['schemas']['VerifyEmailRequest'];
export type VerifyEmailResponse = components['schemas']['VerifyEmailResponse'];
export type WaitForEventConfig = components['schemas']['WaitForEventConfig'];
export type WaitingItems = components['schemas']['WaitingItems'];
export type Webhook = components['schemas']['Webhook'];
export type WebhookConfig = components['schemas']['WebhookConfig'];
export type WebhookContact = components['schemas']['WebhookContact'];
export type WebhookDelivery = components['schemas']['WebhookDelivery'];
export type WebhookEvent = components['schemas']['WebhookEvent'];
export type WebhookEventBatch = components['schemas']['WebhookEventBatch'];
export type WebhookEventBody = components['schemas']['WebhookEventBody'];
export type WebhookEventContact = components['schemas']['WebhookEventContact'];
export type WebhookEventData = components['schemas']['WebhookEventData'];
export type WebhookExecution = components['schemas']['WebhookExecution'];
export type WebhookWorkflow = components['schemas']['WebhookWorkflow'];
export type Workflow = components['schemas']['Workflow'];
export type WorkflowCounts = components['schemas']['WorkflowCounts'];
export type WorkflowDefinition = components['schemas']['WorkflowDefinition'];
export type WorkflowExecution = components['schemas']['WorkflowExecution'];
export type WorkflowExecutionDetail = components['schemas']['WorkflowExecutionDetail'];
export type WorkflowField = components['schemas']['WorkflowField'];
export type WorkflowStep = components['schemas']['WorkflowStep'];
export type WorkflowTransition = components['schemas']['WorkflowTransition'];
export type WorkflowTrigger = components['schemas']['WorkflowTrigger'];
export type $defs = Record<string, never>;
export interface operations {
    listActivity: {
        parameters: {
            query?: {
                /** @description The contact */
                contactId?: string;
                /** @description Where the next page begins; empty on the last one */
                cursor?: string;
                /** @description The last day or moment */
                endDate?: string;
                /** @description How many items the page may have; more than the largest page counts as the largest page */
                limit?: number;
                /** @description The first day or moment */
                startDate?: string;
                /** @description Activity types, comma-separated; all when left out */
                types?: string | string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of activities */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListActivityResponse"];
                };
            };
        };
    };
    getQueue: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What waits */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Queue"];
                };
            };
        };
    };
    getActivityStats: {
        parameters: {
            query?: {
                /** @description The last day or moment */
                endDate?: string;
                /** @description The first day or moment */
                startDate?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The figures */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActivityStats"];
                };
            };
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /** @description Only what was done with a key, in the console, or by an operator */
                actor?: "key" | "console" | "operator";
                /** @description Where the next page begins; empty on the last one */
                cursor?: string;
                /** @description The first moment */
                from?: string;
                /** @description Only what was done with this key */
                keyId?: string;
                /** @description How many items the page may have; more than the largest page counts as the largest page */
                limit?: number;
                /** @description An operation of this document, or a command */
                operation?: string;
                /** @description Only what was done, was refused, or failed */
                outcome?: "done" | "refused" | "failed";
                /** @description Only what was done to the record with this id */
                subjectId?: string;
                /** @description The moment before which it ends */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of entries */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListAuditResponse"];
                };
            };
        };
    };
    listCampaigns: {
        parameters: {
            query?: {
                /** @description The direction of the order; an unknown value counts as desc */
                dir?: "asc" | "desc";
                /** @description The number of the page, from 1 */
                page?: number;
                /** @description How many items a page has, at most 100; more counts as 100 */
                pageSize?: number;
                /** @description A part of the text; upper and lower case are alike */
                search?: string;
                /** @description The field that gives the order; an unknown value counts as createdAt */
                sort?: "createdAt" | "name" | "updatedAt";
                /** @description One of DRAFT, SCHEDULED, SENDING, SENT, CANCELLED */
                status?: "DRAFT" | "SCHEDULED" | "SENDING" | "SENT" | "CANCELLED";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of campaigns */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CampaignPage"];
                };
            };
        };
    };
    createCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateCampaignRequest"];
            };
        };
        responses: {
            /** @description The draft */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateCampaignResponse"];
                };
            };
        };
    };
    getCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The campaign */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Campaign"];
                };
            };
        };
    };
    replaceCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplaceCampaignRequest"];
            };
        };
        responses: {
            /** @description The campaign after the change */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Campaign"];
                };
            };
        };
    };
    deleteCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    cancelCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The campaign, CANCELLED */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Campaign"];
                };
            };
        };
    };
    checkCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was found */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CampaignCheck"];
                };
            };
        };
    };
    continueCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The campaign, which goes on at once */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Campaign"];
                };
            };
        };
    };
    duplicateCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The copy */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Campaign"];
                };
            };
        };
    };
    getCampaignHistory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The last fifty */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetCampaignHistoryResponse"];
                };
            };
        };
    };
    listCampaignLinks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The links */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListCampaignLinksResponse"];
                };
            };
        };
    };
    pauseCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The campaign */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Campaign"];
                };
            };
        };
    };
    publishCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The campaign */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Campaign"];
                };
            };
        };
    };
    listCampaignRecipients: {
        parameters: {
            query?: {
                /** @description Where the next page begins; empty on the last one */
                cursor?: string;
                /** @description Takes precedence over the Accept header */
                format?: "json" | "csv";
                /** @description How many items the page may have; more than the largest page counts as the largest page */
                limit?: number;
                /** @description `UNREACHED` stands for all states of recipients who did not get it */
                state?: "PENDING" | "SENDING" | "SENT" | "DELIVERED" | "OPENED" | "CLICKED" | "BOUNCED" | "COMPLAINED" | "FAILED" | "SKIPPED" | "SUPPRESSED" | "CANCELLED" | "UNREACHED";
            };
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of recipients, or all of them as CSV */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListCampaignRecipientsResponse"];
                    "text/csv": string;
                };
            };
        };
    };
    resendCampaign: {
        parameters: {
            query?: never;
            header?: {
                /** @description A text of your own. A request with a key that was used before is refused with 409, and not repeated */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResendCampaignRequest"];
            };
        };
        responses: {
            /** @description The campaign, SENDING */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Campaign"];
                };
            };
        };
    };
    checkResendCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckResendCampaignRequest"];
            };
        };
        responses: {
            /** @description The numbers at this moment */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResendCheck"];
                };
            };
        };
    };
    resumeCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The campaign */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Campaign"];
                };
            };
        };
    };
    sendCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SendCampaignRequest"];
            };
        };
        responses: {
            /** @description The campaign, SENDING or SCHEDULED */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SendCampaignResponse"];
                };
            };
        };
    };
    getCampaignStats: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The figures */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CampaignStats"];
                };
            };
        };
    };
    testCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TestCampaignRequest"];
            };
        };
        responses: {
            /** @description The test email is on its way */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestCampaignResponse"];
                };
            };
        };
    };
    unpublishCampaign: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The campaign */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Campaign"];
                };
            };
        };
    };
    listCampaignUnreached: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The reasons */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListCampaignUnreachedResponse"];
                };
            };
        };
    };
    listContacts: {
        parameters: {
            query?: {
                /** @description Where the next page begins; empty on the last one */
                cursor?: string;
                /** @description The direction of the order; an unknown value counts as desc */
                dir?: "asc" | "desc";
                /** @description How many items the page may have; more than the largest page counts as the largest page */
                limit?: number;
                /** @description Only contacts who have paused marketing, or only the others; all when left out */
                paused?: boolean;
                /** @description Only contacts who have not confirmed their subscription, or only the others; all when left out */
                pending?: boolean;
                /** @description A part of the text; upper and lower case are alike */
                search?: string;
                /** @description The field that gives the order; an unknown value counts as createdAt */
                sort?: "createdAt" | "email";
                /** @description Only contacts that are subscribed, or that are not; all when left out */
                subscribed?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of contacts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContactPage"];
                };
            };
        };
    };
    upsertContact: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpsertContactRequest"];
            };
        };
        responses: {
            /** @description The contact existed and was updated */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpsertedContact"];
                };
            };
            /** @description The contact was created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpsertedContact"];
                };
            };
        };
    };
    getContact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The contact */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Contact"];
                };
            };
        };
    };
    deleteContact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateContact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateContactRequest"];
            };
        };
        responses: {
            /** @description The contact after the change */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Contact"];
                };
            };
        };
    };
    listContactConsents: {
        parameters: {
            query?: {
                /** @description Where the next page begins; empty on the last one */
                cursor?: string;
                /** @description How many items the page may have; more than the largest page counts as the largest page */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of changes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConsentPage"];
                };
            };
        };
    };
    exportContact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportContactResponse"];
                };
            };
        };
    };
    getContactTopics: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The topics */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContactTopics"];
                };
            };
        };
    };
    setContactTopics: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetContactTopicsRequest"];
            };
        };
        responses: {
            /** @description The topics */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContactTopics"];
                };
            };
        };
    };
    upsertContacts: {
        parameters: {
            query?: never;
            header?: {
                /** @description A text of your own. A request with a key that was used before is refused with 409, and not repeated */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpsertContactsRequest"];
            };
        };
        responses: {
            /** @description What became of each contact */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpsertContactsResponse"];
                };
            };
        };
    };
    bulkDeleteContacts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkDeleteContactsRequest"];
            };
        };
        responses: {
            /** @description Queued; poll /contacts/bulk/{jobId} */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueuedJob"];
                };
            };
        };
    };
    bulkSubscribeContacts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkSubscribeContactsRequest"];
            };
        };
        responses: {
            /** @description Queued; poll /contacts/bulk/{jobId} */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueuedJob"];
                };
            };
        };
    };
    bulkUnsubscribeContacts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkUnsubscribeContactsRequest"];
            };
        };
        responses: {
            /** @description Queued; poll /contacts/bulk/{jobId} */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueuedJob"];
                };
            };
        };
    };
    getBulkJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The job, whose state can be polled */
                jobId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkJob"];
                };
            };
        };
    };
    exportContacts: {
        parameters: {
            query?: {
                /** @description Names of columns with commas between them, in this order; all when left out */
                columns?: string;
                /** @description Only contacts that fit a condition, which is that of a segment as JSON */
                condition?: string;
                /** @description CSV, or one JSON object a line */
                format?: "csv" | "jsonl";
                /** @description Only contacts who have paused marketing, or only the others; all when left out */
                paused?: boolean;
                /** @description Only contacts who have not confirmed their subscription, or only the others; all when left out */
                pending?: boolean;
                /** @description A part of the text; upper and lower case are alike */
                search?: string;
                /** @description Only contacts of this segment */
                segmentId?: string;
                /** @description Only contacts that are subscribed, or that are not; all when left out */
                subscribed?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file; as JSON lines, each line is one object */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/jsonl": components["schemas"]["ExportedContact"];
                    "text/csv": string;
                };
            };
        };
    };
    exportContactsByBody: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExportContactsByBodyRequest"];
            };
        };
        responses: {
            /** @description The file; as JSON lines, each line is one object */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/jsonl": components["schemas"]["ExportedContact"];
                    "text/csv": string;
                };
            };
        };
    };
    listContactFields: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The fields */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContactFields"];
                };
            };
        };
    };
    deleteContactField: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `email`, `data.plan`, or `plan` for short */
                field: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description From how many contacts it was removed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FieldDeletion"];
                };
            };
            /** @description From how many it is being removed; poll /contacts/bulk/{jobId} */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FieldDeletion"];
                };
            };
        };
    };
    getContactFieldUsage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `email`, `data.plan`, or `plan` for short */
                field: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What uses it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FieldUsage"];
                };
            };
        };
    };
    listContactFieldValues: {
        parameters: {
            query?: {
                /** @description How many items the page may have; more than the largest page counts as the largest page */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description `email`, `data.plan`, or `plan` for short */
                field: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The values */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FieldValues"];
                };
            };
        };
    };
    importContacts: {
        parameters: {
            query?: {
                /** @description What a column is, as `<column>:<target>`: `email`, `subscribed`, `trackingAllowed`, `ignored`, a topic such as `topic.news`, or a key of the data such as `data.plan`. It may be given several times, and as a field of the form, too */
                map?: string[] | string | string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["ImportContactsRequest"];
            };
        };
        responses: {
            /** @description Queued; poll /contacts/import/{jobId} */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueuedJob"];
                };
            };
        };
    };
    getImportJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The job, whose state can be polled */
                jobId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportJob"];
                };
            };
        };
    };
    lookUpContacts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LookUpContactsRequest"];
            };
        };
        responses: {
            /** @description The addresses as they were sent, in their order */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LookUpContactsResponse"];
                };
            };
        };
    };
    searchContacts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SearchContactsRequest"];
            };
        };
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContactPage"];
                };
            };
        };
    };
    getDeliverability: {
        parameters: {
            query?: {
                /** @description How many days in UTC, with today */
                days?: number;
                /** @description One provider only, also by a domain of its people, such as hotmail.com for outlook.com */
                provider?: string;
                /** @description One source only, by its name */
                source?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The results */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deliverability"];
                };
            };
        };
    };
    createDomain: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateDomainRequest"];
            };
        };
        responses: {
            /** @description The domain, pending */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Domain"];
                };
            };
        };
    };
    deleteDomain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    verifyDomain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The domain after the check */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Domain"];
                };
            };
        };
    };
    listDomains: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The project of the key, or `current` */
                projectId: string | "current";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The domains in alphabetical order */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Domain"][];
                };
            };
        };
    };
    listEmails: {
        parameters: {
            query?: {
                /** @description The address of its recipient */
                address?: string;
                /** @description The campaign that it belongs to */
                campaignId?: string;
                /** @description The contact */
                contactId?: string;
                /** @description Where the next page begins; empty on the last one */
                cursor?: string;
                /** @description How many items the page may have; more than the largest page counts as the largest page */
                limit?: number;
                /** @description Queued on this day or moment, or later */
                since?: string;
                /** @description Its state */
                status?: "PENDING" | "SENDING" | "SENT" | "DELIVERED" | "OPENED" | "CLICKED" | "BOUNCED" | "COMPLAINED" | "FAILED" | "SKIPPED" | "SUPPRESSED" | "CANCELLED";
                /** @description One of its tags */
                tag?: string;
                /** @description The template */
                templateId?: string;
                /** @description The kind */
                type?: "TRANSACTIONAL" | "MARKETING" | "HEADLESS";
                /** @description Queued on this day or moment, or earlier */
                until?: string;
                /** @description The workflow */
                workflowId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of emails */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListEmailsResponse"];
                };
            };
        };
    };
    getEmail: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The email */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmailStory"];
                };
            };
        };
    };
    rescheduleEmail: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RescheduleEmailRequest"];
            };
        };
        responses: {
            /** @description The email */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmailStory"];
                };
            };
        };
    };
    cancelEmail: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The email */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmailStory"];
                };
            };
        };
    };
    getEmailContent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The content */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmailContent"];
                };
            };
        };
    };
    listEmailDeliveries: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The requests */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmailDeliveries"];
                };
            };
        };
    };
    exportEmails: {
        parameters: {
            query?: {
                /** @description The address of its recipient */
                address?: string;
                /** @description The campaign that it belongs to */
                campaignId?: string;
                /** @description Names of columns with commas between them, in this order; all when left out */
                columns?: string;
                /** @description The contact */
                contactId?: string;
                /** @description CSV, or one JSON object a line */
                format?: "csv" | "jsonl";
                /** @description Queued on this day or moment, or later */
                since?: string;
                /** @description Its state */
                status?: "PENDING" | "SENDING" | "SENT" | "DELIVERED" | "OPENED" | "CLICKED" | "BOUNCED" | "COMPLAINED" | "FAILED" | "SKIPPED" | "SUPPRESSED" | "CANCELLED";
                /** @description One of its tags */
                tag?: string;
                /** @description The template */
                templateId?: string;
                /** @description The kind */
                type?: "TRANSACTIONAL" | "MARKETING" | "HEADLESS";
                /** @description Queued on this day or moment, or earlier */
                until?: string;
                /** @description The workflow */
                workflowId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file; as JSON lines, each line is one object */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/jsonl": components["schemas"]["ExportedEmail"];
                    "text/csv": string;
                };
            };
        };
    };
    searchEmails: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SearchEmailsRequest"];
            };
        };
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchEmailsResponse"];
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description Where the next page begins; empty on the last one */
                cursor?: string;
                /** @description The name of the event */
                eventName?: string;
                /** @description How many items the page may have; more than the largest page counts as the largest page */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                };
            };
        };
    };
    deleteEvents: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of the event */
                eventName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How many were deleted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteEventsResponse"];
                };
            };
        };
    };
    getEventUsage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of the event */
                eventName: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What uses it, and how often it happened */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventUsage"];
                };
            };
        };
    };
    listContactEvents: {
        parameters: {
            query?: {
                /** @description Where the next page begins; empty on the last one */
                cursor?: string;
                /** @description How many items the page may have; more than the largest page counts as the largest page */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description The contact */
                contactId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                };
            };
        };
    };
    exportEvents: {
        parameters: {
            query?: {
                /** @description Names of columns with commas between them, in this order; all when left out */
                columns?: string;
                /** @description The contact */
                contactId?: string;
                /** @description The last day or moment */
                endDate?: string;
                /** @description The name of the event */
                eventName?: string;
                /** @description CSV, or one JSON object a line */
                format?: "csv" | "jsonl";
                /** @description The first day or moment */
                startDate?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file; as JSON lines, each line is one object */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/jsonl": components["schemas"]["ExportedEvent"];
                    "text/csv": string;
                };
            };
        };
    };
    listEventNames: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The most frequent first; those with more than 10,000 events come in alphabetical order */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListEventNamesResponse"];
                };
            };
        };
    };
    getEventStats: {
        parameters: {
            query?: {
                /** @description The last day or moment */
                endDate?: string;
                /** @description The first day or moment */
                startDate?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Names and counts, the most frequent first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventCount"][];
                };
            };
        };
    };
    recordEvent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecordEventRequest"];
            };
        };
        responses: {
            /** @description The event */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Event"];
                };
            };
        };
    };
    findRecords: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FindRecordsRequest"];
            };
        };
        responses: {
            /** @description The records, at most 28 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundRecords"];
                };
            };
        };
    };
    listKeys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All keys, expired ones too */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"][];
                };
            };
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateKeyRequest"];
            };
        };
        responses: {
            /** @description The new key */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedKey"];
                };
            };
        };
    };
    getKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
        };
    };
    endKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Ended */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateKeyRequest"];
            };
        };
        responses: {
            /** @description The key after the change */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Key"];
                };
            };
        };
    };
    listSegments: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The segments */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Segment"][];
                };
            };
        };
    };
    createSegment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSegmentRequest"];
            };
        };
        responses: {
            /** @description The segment */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Segment"];
                };
            };
        };
    };
    getSegment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The segment */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Segment"];
                };
            };
        };
    };
    deleteSegment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateSegment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateSegmentRequest"];
            };
        };
        responses: {
            /** @description The segment after the change */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Segment"];
                };
            };
        };
    };
    computeSegment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What has changed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SegmentChanges"];
                };
            };
        };
    };
    listSegmentContacts: {
        parameters: {
            query?: {
                /** @description The number of the page, from 1 */
                page?: number;
                /** @description How many items a page has, at most 100; more counts as 100 */
                pageSize?: number;
            };
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of contacts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SegmentContactPage"];
                };
            };
        };
    };
    addSegmentMembers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddSegmentMembersRequest"];
            };
        };
        responses: {
            /** @description How many joined, and addresses without a contact */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddSegmentMembersResponse"];
                };
            };
        };
    };
    removeSegmentMembers: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RemoveSegmentMembersRequest"];
            };
        };
        responses: {
            /** @description How many left */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RemoveSegmentMembersResponse"];
                };
            };
        };
    };
    refreshSegment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The count */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RefreshSegmentResponse"];
                };
            };
        };
    };
    listSuppressions: {
        parameters: {
            query?: {
                /** @description An email address */
                address?: string;
                /** @description Where the next page begins; empty on the last one */
                cursor?: string;
                /** @description Takes precedence over the Accept header */
                format?: "json" | "csv";
                /** @description How many items the page may have; more than the largest page counts as the largest page */
                limit?: number;
                /** @description Why */
                reason?: "HARD_BOUNCE" | "COMPLAINT" | "MANUAL";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of suppressions, or all of them as CSV */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListSuppressionsResponse"];
                    "text/csv": string;
                };
            };
        };
    };
    addSuppressions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddSuppressionsRequest"];
            };
        };
        responses: {
            /** @description How many were added */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddSuppressionsResponse"];
                };
            };
        };
    };
    removeSuppression: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description An email address */
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It may get email again */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    importSuppressions: {
        parameters: {
            query?: {
                /** @description What a column is, as `<column>:<target>`: `email`, `subscribed`, `trackingAllowed`, `ignored`, a topic such as `topic.news`, or a key of the data such as `data.plan`. It may be given several times, and as a field of the form, too */
                map?: string[] | string | string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["ImportSuppressionsRequest"];
            };
        };
        responses: {
            /** @description What was stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportSuppressionsResponse"];
                };
            };
        };
    };
    removeSuppressionByBody: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RemoveSuppressionByBodyRequest"];
            };
        };
        responses: {
            /** @description It may get email again */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    searchSuppressions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SearchSuppressionsRequest"];
            };
        };
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchSuppressionsResponse"];
                };
            };
        };
    };
    undoBounces: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UndoBouncesRequest"];
            };
        };
        responses: {
            /** @description What was undone, or would be */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UndoBouncesResponse"];
                };
            };
        };
    };
    listTemplates: {
        parameters: {
            query?: {
                /** @description The direction of the order; an unknown value counts as desc */
                dir?: "asc" | "desc";
                /** @description The number of the page, from 1 */
                page?: number;
                /** @description How many items a page has, at most 100; more counts as 100 */
                pageSize?: number;
                /** @description A part of the text; upper and lower case are alike */
                search?: string;
                /** @description The field that gives the order; an unknown value counts as createdAt */
                sort?: "createdAt" | "name" | "updatedAt";
                /** @description The kind */
                type?: "TRANSACTIONAL" | "MARKETING" | "HEADLESS";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of templates */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TemplatePage"];
                };
            };
        };
    };
    createTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTemplateRequest"];
            };
        };
        responses: {
            /** @description The template */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"];
                };
            };
        };
    };
    getTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The template */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"];
                };
            };
        };
    };
    deleteTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateTemplateRequest"];
            };
        };
        responses: {
            /** @description The template after the change */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"];
                };
            };
        };
    };
    duplicateTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The copy, named "<name> (Copy)" */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Template"];
                };
            };
        };
    };
    previewTemplate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PreviewTemplateRequest"];
            };
        };
        responses: {
            /** @description What a recipient would see */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TemplatePreview"];
                };
            };
        };
    };
    getTemplateUsage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What uses it, and how many emails were sent from it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetTemplateUsageResponse"];
                };
            };
        };
    };
    listTopics: {
        parameters: {
            query?: {
                /** @description The direction of the order; an unknown value counts as desc */
                dir?: "asc" | "desc";
                /** @description The number of the page, from 1 */
                page?: number;
                /** @description How many items a page has, at most 100; more counts as 100 */
                pageSize?: number;
                /** @description A part of the text; upper and lower case are alike */
                search?: string;
                /** @description The field that gives the order; an unknown value counts as createdAt */
                sort?: "createdAt" | "key" | "name" | "updatedAt";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of topics */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TopicPage"];
                };
            };
        };
    };
    createTopic: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTopicRequest"];
            };
        };
        responses: {
            /** @description The topic */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Topic"];
                };
            };
        };
    };
    getTopic: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The topic */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Topic"];
                };
            };
        };
    };
    deleteTopic: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateTopic: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateTopicRequest"];
            };
        };
        responses: {
            /** @description The topic after the change */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Topic"];
                };
            };
        };
    };
    getTopicUsage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What uses it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TopicUsage"];
                };
            };
        };
    };
    listProjects: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A list of one project */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnProject"][];
                };
            };
        };
    };
    updateProject: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateProjectRequest"];
            };
        };
        responses: {
            /** @description The project after the change */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
        };
    };
    regenerateProjectKeys: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The project with its new keys */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RegenerateProjectKeysResponse"];
                };
            };
        };
    };
    sendEmail: {
        parameters: {
            query?: never;
            header?: {
                /** @description A text of your own. A request with a key that was used before is refused with 409, and not repeated */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SendEmailRequest"];
            };
        };
        responses: {
            /** @description Accepted for delivery */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SendEmailResponse"];
                };
            };
        };
    };
    sendBatch: {
        parameters: {
            query?: never;
            header?: {
                /** @description A text of your own. A request with a key that was used before is refused with 409, and not repeated */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SendBatchRequest"];
            };
        };
        responses: {
            /** @description The outcome of each email */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SendBatchResponse"];
                };
            };
        };
    };
    subscribe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubscribeRequest"];
            };
        };
        responses: {
            /** @description Accepted, whatever is known of the address */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubscribeResponse"];
                };
            };
        };
    };
    track: {
        parameters: {
            query?: never;
            header?: {
                /** @description A text of your own. A request with a key that was used before is refused with 409, and not repeated */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TrackRequest"];
            };
        };
        responses: {
            /** @description The contact and the event */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrackResponse"];
                };
            };
        };
    };
    verifyEmail: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VerifyEmailRequest"];
            };
        };
        responses: {
            /** @description What is known of the address */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerifyEmailResponse"];
                };
            };
        };
    };
    listWebhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoints */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"][];
                };
            };
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhookRequest"];
            };
        };
        responses: {
            /** @description The endpoint with its secret */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateWebhookResponse"];
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The endpoint */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateWebhookRequest"];
            };
        };
        responses: {
            /** @description The endpoint after the change */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description Where the next page begins; empty on the last one */
                cursor?: string;
                /** @description How many items the page may have; more than the largest page counts as the largest page */
                limit?: number;
                /** @description Its state */
                status?: "RETRYING" | "DELIVERED" | "FAILED";
            };
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of deliveries */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListWebhookDeliveriesResponse"];
                };
            };
        };
    };
    getWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The delivery */
                deliveryId: string;
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundWebhookDelivery"];
                };
            };
        };
    };
    replayWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayWebhookRequest"];
            };
        };
        responses: {
            /** @description Events are delivered from this moment on */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayWebhookResponse"];
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateWebhookSecretRequest"];
            };
        };
        responses: {
            /** @description The new secret */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotateWebhookSecretResponse"];
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is on its way */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestWebhookResponse"];
                };
            };
        };
    };
    listWorkflows: {
        parameters: {
            query?: {
                /** @description The direction of the order; an unknown value counts as desc */
                dir?: "asc" | "desc";
                /** @description The number of the page, from 1 */
                page?: number;
                /** @description How many items a page has, at most 100; more counts as 100 */
                pageSize?: number;
                /** @description A part of the text; upper and lower case are alike */
                search?: string;
                /** @description The field that gives the order; an unknown value counts as createdAt */
                sort?: "createdAt" | "name" | "updatedAt";
                /** @description Its state */
                status?: "active" | "disabled";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of workflows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListWorkflowsResponse"];
                };
            };
        };
    };
    createWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWorkflowRequest"];
            };
        };
        responses: {
            /** @description The workflow */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workflow"];
                };
            };
        };
    };
    getWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workflow */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowDefinition"];
                };
            };
        };
    };
    deleteWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateWorkflow: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateWorkflowRequest"];
            };
        };
        responses: {
            /** @description The workflow after the change */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workflow"];
                };
            };
        };
    };
    listWorkflowExecutions: {
        parameters: {
            query?: {
                /** @description The number of the page, from 1 */
                page?: number;
                /** @description How many items a page has, at most 100; more counts as 100 */
                pageSize?: number;
                /** @description One of RUNNING, WAITING, COMPLETED, EXITED, FAILED, CANCELLED */
                status?: "RUNNING" | "WAITING" | "COMPLETED" | "EXITED" | "FAILED" | "CANCELLED";
                /** @description Only those at this step; `total` counts all steps */
                stepId?: string;
            };
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of executions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionPage"];
                };
            };
        };
    };
    startWorkflowExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartWorkflowExecutionRequest"];
            };
        };
        responses: {
            /** @description The execution */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowExecution"];
                };
            };
        };
    };
    getWorkflowExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The execution */
                executionId: string;
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The execution */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowExecutionDetail"];
                };
            };
        };
    };
    cancelWorkflowExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The execution */
                executionId: string;
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The execution, CANCELLED */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowExecution"];
                };
            };
        };
    };
    retryWorkflowExecution: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The execution */
                executionId: string;
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The execution, RUNNING */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowExecution"];
                };
            };
        };
    };
    cancelAllWorkflowExecutions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How many were active */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CancelAllWorkflowExecutionsResponse"];
                };
            };
        };
    };
    countWorkflowExecutions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionCounts"];
                };
            };
        };
    };
    retryFailedWorkflowExecutions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RetryFailedWorkflowExecutionsRequest"];
            };
        };
        responses: {
            /** @description How many have failed; a job goes through them */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetryFailedWorkflowExecutionsResponse"];
                };
            };
        };
    };
    addWorkflowStep: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddWorkflowStepRequest"];
            };
        };
        responses: {
            /** @description The step */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowStep"];
                };
            };
        };
    };
    removeWorkflowStep: {
        parameters: {
            query?: {
                /** @description Join the steps before it to the one after it */
                splice?: boolean;
            };
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
                /** @description The step */
                stepId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    updateWorkflowStep: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
                /** @description The step */
                stepId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateWorkflowStepRequest"];
            };
        };
        responses: {
            /** @description The step after the change */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowStep"];
                };
            };
        };
    };
    addWorkflowTransition: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddWorkflowTransitionRequest"];
            };
        };
        responses: {
            /** @description The transition */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowTransition"];
                };
            };
        };
    };
    removeWorkflowTransition: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of the record */
                id: string;
                /** @description The transition */
                transitionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    listWorkflowFields: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The fields with their types */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListWorkflowFieldsResponse"];
                };
            };
        };
    };
}
