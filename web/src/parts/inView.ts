/** For the tab that is shown, as its `ref`: where the tabs are wider than the screen, it is brought into sight. */
export function inView(tab: HTMLElement | null): void {
  const tabs = tab?.parentElement;
  if (!tab || !tabs) return;
  const beyond = tab.getBoundingClientRect().right - tabs.getBoundingClientRect().right;
  if (beyond > 0) tabs.scrollLeft += beyond;
}
