import { escapeHtml } from '../../../shared/pure/templates/template-language.ts';
import type { ApiExample } from '../../reference/examples.ts';
import { contentOf, nodesIn, type Operation } from '../reference/operations.ts';

/** The form that sends a request to this server; `assets/try-it.js` does it. Without scripts it is hidden. */
export function renderTryIt({ method, path, node }: Operation, examples: readonly ApiExample[]): string {
  const example = examples.find(({ status }) => status < 300);
  const parameters = nodesIn(node['parameters']).map((parameter) => {
    const [name, place] = [String(parameter['name']), String(parameter['in'])];
    const required = parameter['required'] === true ? ' required' : '';
    return `<label>${escapeHtml(name)} <small>${place}</small><input data-name="${escapeHtml(name)}" data-in="${place}"${required} autocomplete="off" spellcheck="false"></label>`;
  });
  const type = contentOf(node['requestBody'])?.type;
  const json = JSON.stringify(example?.request ?? {}, null, 2);
  const body = {
    'application/json': `<label>Body<textarea name="body" rows="${Math.min(json.split('\n').length, 16)}" spellcheck="false">${escapeHtml(json)}</textarea></label>`,
    'multipart/form-data': '<label>File<input type="file" name="file" required></label>',
  }[type ?? ''];
  const key = JSON.stringify(node['security']).includes('publicKey') ? 'pk_' : 'sk_';
  return `<details class="try card"><summary>Try it</summary>
<form data-method="${method}" data-path="${escapeHtml(path)}">
<p>It sends a real request to this server. The key stays in this tab until you close it, and goes nowhere else.</p>
<label>Key<input type="password" name="key" placeholder="${key}…" required autocomplete="off" spellcheck="false"></label>
${parameters.join('\n')}
${body ?? ''}
<p><button type="submit" class="primary">Send ${method}</button> <button type="button" class="plain" data-forget>Forget the key</button></p>
<div class="answer" hidden><p role="status"></p><pre tabindex="0" aria-label="Answer"></pre></div>
</form>
</details>
`;
}
